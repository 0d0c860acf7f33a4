// What the pass in front of a tensor-core product writes: pairs, factors, and the counts that say
// whether halves will do.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(),
                kNan = std::numeric_limits<float>::quiet_NaN();

struct PairsKind {
  const char* name;
  int group, bytes;  // elements of 128 bytes, and the bytes of one
  double relative;   // what the sum of an element's parts may be off by
};
constexpr PairsKind kHalves{"parts::HalfPairs", 32, 4, 0x1p-23},
    kTf32{"parts::Tf32Pairs", 16, 8, 0x1p-23}, kOnce{"parts::Tf32Once", 32, 4, 0x1p-11},
    kHalf{"parts::HalfOnce", 64, 2, 0x1p-11};

// Lines of an operand, line by line, however they will lie in memory.
struct Lines {
  int lines, k;
  std::vector<float> value;
  float& at(int line, int i) { return value[static_cast<std::size_t>(line * k + i)]; }
  float at(int line, int i) const { return value[static_cast<std::size_t>(line * k + i)]; }
};

// Signed, of magnitudes 2^-spread to 2^spread, logarithmically uniform.
Lines wide_lines(int lines, int k, double spread, unsigned seed) {
  Lines x{lines, k, std::vector<float>(static_cast<std::size_t>(lines * k))};
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(-spread, spread);
  for (float& v : x.value) {
    const double magnitude = std::exp2(exponent(random));
    v = static_cast<float>(random() & 1 ? magnitude : -magnitude);
  }
  return x;
}
Lines uniform_lines(int lines, int k, unsigned seed) {
  Lines x{lines, k, std::vector<float>(static_cast<std::size_t>(lines * k))};
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  for (float& v : x.value) v = value(random);
  return x;
}

struct Written {
  int depth;
  std::vector<unsigned char> pairs;
  std::vector<float> factor;
  bool along;
  int k;
  std::vector<unsigned> loss;  // of each block, as parts::StoredLoss

  // The sum of the parts of an element, as the product sees it.
  double value(const PairsKind& kind, int line, int i) const {
    const unsigned char* const group =
        &pairs[static_cast<std::size_t>((line * depth + i / kind.group * kind.group) * kind.bytes)];
    const auto part = [&](int place) {
      const bool is_half = kind.bytes == (kind.relative < 0x1p-20 ? 4 : 2);
      if (is_half) {
        return static_cast<double>(reinterpret_cast<const _Float16*>(group)[place]);
      }
      return static_cast<double>(reinterpret_cast<const float*>(group)[place]);
    };
    const int in_group = i % kind.group;
    const double lo = kind.relative < 0x1p-20 ? part(in_group + kind.group) : 0.0;
    return (part(in_group) + lo) * static_cast<double>(factor[static_cast<std::size_t>(line)]);
  }
};

// What FP16 pairs lose of an element at most, beside the line's largest: an element close below a
// power of two counts as one.
constexpr double kLostByHalves = 0x1.002p-40;

class SplitPass : public EveryFlavour {
 protected:
  // `along`: a line's elements are neighbours in memory, else the lines are. `gap`: added to the
  // least leading dimension.
  Written split(const PairsKind& kind, const Lines& x, bool along, int gap = 0) {
    const int ld = (along ? x.k : x.lines) + gap, depth = (x.k + 63) / 64 * 64;
    std::vector<float> memory(static_cast<std::size_t>(ld * (along ? x.lines : x.k)), kNan);
    for (int line = 0; line < x.lines; ++line) {
      for (int i = 0; i < x.k; ++i) {
        memory[static_cast<std::size_t>(along ? line * ld + i : line + i * ld)] = x.at(line, i);
      }
    }
    const auto lines = static_cast<std::size_t>(x.lines);
    // A block has at least one line along memory, or shares a long one with others. A
    // cluster of two has 32 lines across memory, or 16 long ones.
    int sharing = 1;
    while (along && sharing < 8 && sharing * 28672 < depth) sharing *= 2;
    const int of_cluster = depth > 8192 ? 16 : 32;
    const auto blocks = static_cast<unsigned>(along ? x.lines * sharing
                                                    : (x.lines + of_cluster - 1) / of_cluster * 2);
    const Buffer<float> data(target(), memory);
    Buffer<unsigned char> pairs(target(), lines * static_cast<std::size_t>(depth * kind.bytes));
    Buffer<float> factor(target(), lines);
    Buffer<unsigned> loss(target(), 4 * blocks / static_cast<unsigned>(sharing));
    pairs.fill_bytes(0xff);
    factor.fill_bytes(0xff);
    loss.fill_bytes(0xff);
    const std::string kernel =
        std::string(along ? "split_along_memory<" : "split_across_memory<") + kind.name + ">";
    run(kernel, {{blocks}, {256}, 80 << 10, along ? static_cast<unsigned>(sharing) : 2u}, data,
        pairs, factor, loss, ld, x.lines, x.k);
    EXPECT_TRUE(pairs.guards_intact() && factor.guards_intact() && loss.guards_intact());
    return {depth, pairs.download(), factor.download(), along, x.k, loss.download()};
  }

  bool fit(const Written& a, const Written& b) {
    std::vector<unsigned> both = a.loss;
    both.insert(both.end(), b.loss.begin(), b.loss.end());
    Buffer<unsigned> loss(target(), both), answer(target(), 128);
    run("halves_fit", {{1}, {128}}, loss, answer, static_cast<int>(a.loss.size() / 4),
        static_cast<int>(b.loss.size() / 4), a.k, a.along + 2 * b.along);
    const std::vector<unsigned> answers = answer.download();
    for (const unsigned one : answers) EXPECT_EQ(one, answers[0]);
    return answers[0] == 1;
  }

  // Each element within `kind.relative` of itself, or `floor` of its line's largest; zeros behind.
  static void expect_held(const PairsKind& kind, const Lines& x, const Written& w, double floor) {
    for (int line = 0; line < x.lines; ++line) {
      double largest = 0;
      for (int i = 0; i < x.k; ++i) largest = std::max(largest, std::abs(double{x.at(line, i)}));
      for (int i = 0; i < w.depth; ++i) {
        const double truth = i < x.k ? x.at(line, i) : 0.0;
        const double bound = std::max(kind.relative * std::abs(truth), floor * largest);
        const double error = std::abs(w.value(kind, line, i) - truth);
        ASSERT_TRUE(error <= (i < x.k ? bound : 0.0))
            << kind.name << " line " << line << " element " << i << ": " << truth << " became "
            << w.value(kind, line, i);
      }
    }
  }
};
WARPLADDER_IN_EVERY_FLAVOUR(SplitPass);

TEST_P(SplitPass, KeepsWhatThePairsPromise) {
  // A cluster across memory holds 1,024 of k, and up to 16 more at its end; then it reads again.
  // Two and four blocks share the long lines along memory.
  // Rows of memory begin in each of four ways on 16 bytes.
  for (const auto& [lines, k, gap] :
       {std::array{1, 1, 0}, std::array{17, 63, 3}, std::array{40, 300, 1}, std::array{32, 512, 4},
        std::array{33, 1030, 1}, std::array{5, 1041, 0}, std::array{67, 1030, 0},
        std::array{70, 700, 0}, std::array{71, 1041, 2}, std::array{99, 300, 1},
        std::array{2, 30001, 2}, std::array{1, 70000, 0}}) {
    for (const bool along : {true, false}) {
      SCOPED_TRACE(testing::Message() << lines << "x" << k << (along ? " along" : " across"));
      const Lines uniform = uniform_lines(lines, k, 1), wide = wide_lines(lines, k, 20, 2);
      expect_held(kHalves, uniform, split(kHalves, uniform, along, gap), kLostByHalves);
      expect_held(kHalves, wide, split(kHalves, wide, along, gap), kLostByHalves);
      expect_held(kTf32, uniform, split(kTf32, uniform, along, gap), 0);
      expect_held(kTf32, wide, split(kTf32, wide, along, gap), 0);
      expect_held(kOnce, wide, split(kOnce, wide, along, gap), 0);
      expect_held(kHalf, uniform, split(kHalf, uniform, along, gap), kLostByHalves);
      expect_held(kHalf, wide, split(kHalf, wide, along, gap), kLostByHalves);
    }
  }
}

TEST_P(SplitPass, BringsEachLineNearTheTopOfAHalf) {
  Lines x = uniform_lines(24, 96, 3);
  for (int line = 0; line < x.lines; ++line) {
    for (int i = 0; i < x.k; ++i) x.at(line, i) = std::ldexp(x.at(line, i), 5 * line - 60);
    x.at(line, line) = std::ldexp(1.5f, 5 * line - 60);
  }
  for (const bool along : {true, false}) {
    const Written w = split(kHalves, x, along);
    for (int line = 0; line < x.lines; ++line) {
      EXPECT_EQ(w.factor[static_cast<std::size_t>(line)], std::ldexp(1.0f, 5 * line - 60 - 15));
    }
    expect_held(kHalves, x, w, kLostByHalves);
  }
}

TEST_P(SplitPass, HoldsWhatFp16RoundsToThePowerOfTwoAbove) {
  for (const unsigned bits : {0x3fffefffu, 0x3ffff000u, 0x3fffffffu}) {
    const Lines x{1, 2, {std::bit_cast<float>(bits), 0x1p-20f}};
    expect_held(kHalves, x, split(kHalves, x, true), kLostByHalves);
  }
}

// What a block's words say of its lines: see parts/split.hpp.
struct Numbers {
  double below8, depth, spread, mean, small, joined, least;

  static Numbers of(unsigned shapes, unsigned sizes, unsigned pieces) {
    const auto as_float = [](unsigned code) {
      return static_cast<double>(std::bit_cast<float>(code << 16));
    };
    constexpr unsigned kOne = std::bit_cast<unsigned>(1.0f) >> 16;
    return {(shapes & 0xff) / 255.0,         as_float(kOne + (shapes >> 8 & 0xfff)),
            as_float(kOne + (shapes >> 20)), as_float(sizes & 0xffff),
            as_float(sizes >> 16),           as_float(kOne + (pieces & 0xfff)),
            as_float(kOne + (pieces >> 12))};
  }
  void include(const Numbers& more) {
    below8 = std::max(below8, more.below8), small = std::max(small, more.small);
    depth = std::max(depth, more.depth), spread = std::max(spread, more.spread);
    mean = std::max(mean, more.mean);
    joined = std::max(joined, more.joined), least = std::max(least, more.least);
  }
};
Numbers most_of(const Written& w) {
  Numbers most{};
  for (std::size_t at = 0; at < w.loss.size(); at += 4) {
    most.include(Numbers::of(w.loss[at], w.loss[at + 1], w.loss[at + 2]));
  }
  return most;
}

TEST_P(SplitPass, CountsWhetherHalvesFit) {
  for (const bool along : {true, false}) {
    const Written even = split(kHalves, uniform_lines(24, 512, 4), along),
                  wide = split(kHalves, wide_lines(24, 512, 26, 5), along);
    EXPECT_EQ(most_of(even).small, 0.0) << "of 2^-17 of the largest there are hardly any";
    EXPECT_NEAR(most_of(even).below8, 0.0039, 0.02);
    // Of magnitudes over 52 powers of two, 35 of 52 are below 2^-17 of the largest.
    EXPECT_NEAR(most_of(wide).small, 0.67, 0.12);
    EXPECT_NEAR(std::log2(most_of(wide).depth), 21.4, 3);
    EXPECT_TRUE(fit(even, even));
    EXPECT_FALSE(fit(wide, even));
    EXPECT_FALSE(fit(even, wide));

    // [1, 2^-30] and [2^-30, 1]: the product's two terms count alike, and halves lose one.
    Lines left{1, 2, {1.0f, 0x1p-30f}}, right{1, 2, {0x1p-30f, 1.0f}};
    EXPECT_FALSE(fit(split(kHalves, left, along), split(kHalves, right, along)));
    // Zeros are held, and so is a line of nothing else.
    Lines sparse{2, 64, std::vector<float>(128)};
    sparse.at(0, 5) = 3.0f;
    const Written zeros = split(kHalves, sparse, along);
    expect_held(kHalves, sparse, zeros, 0);
    EXPECT_EQ(most_of(zeros).small, 0.0);
  }
}

// Elements far below their line's largest do no harm where enough others are as large as the other
// operand needs. The other operand may hide some of them behind zeros.
TEST_P(SplitPass, LetsHalvesHoldSomeSmallElements) {
  for (const bool along : {true, false}) {
    const Written even = split(kHalves, uniform_lines(24, 512, 4), along);
    // As gradients are: one element is far above the others, of which some are small.
    Lines outlier = uniform_lines(24, 512, 11);
    for (int line = 0; line < 24; ++line) {
      outlier.at(line, line) = 0x1p4f;
      for (int i = 1; i <= 8; ++i) outlier.at(line, 40 * i + line) = 0x1p-20f;
    }
    EXPECT_TRUE(fit(split(kHalves, outlier, along), even));
    EXPECT_TRUE(fit(even, split(kHalves, outlier, along)));
    // A third of the line is small, the rest is large: the products' sums come from there.
    Lines third = uniform_lines(24, 768, 12);
    for (int line = 0; line < 24; ++line) {
      for (int i = 0; i < 100; ++i) third.at(line, 3 * i + line) = 0x1p-30f;
    }
    const Written even_768 = split(kHalves, uniform_lines(24, 768, 13), along);
    EXPECT_TRUE(fit(split(kHalves, third, along), even_768));
    // The same beside a matrix that has zeros wherever the line is large.
    Lines hiding = uniform_lines(24, 768, 14);
    for (int line = 0; line < 24; ++line) {
      for (int i = 0; i < 700; ++i) hiding.at(line, i) = 0;
      hiding.at(line, 767) = 1;
    }
    EXPECT_FALSE(fit(split(kHalves, third, along), split(kHalves, hiding, along)));
    // All are 2^-18 of the largest, but for the largest: they lose up to four roundings. 2^-20 is
    // too little. Nor does 2^-18 suffice where they meet elements as far above the others.
    for (const float magnitude : {0x1p-18f, 0x1p-20f}) {
      Lines alike = uniform_lines(24, 512, 15);
      for (int line = 0; line < 24; ++line) {
        for (int i = 0; i < 512; ++i) {
          float& x = alike.at(line, i);
          x = std::copysign(magnitude * (1 + std::abs(x)), x);
        }
        alike.at(line, 7 * line) = 1;
      }
      const Written written = split(kHalves, alike, along);
      EXPECT_EQ(fit(written, even), magnitude == 0x1p-18f);
      EXPECT_FALSE(fit(written, written));
    }
  }
}

// The largest error of a product of two operands as written, beyond the rounding of each element to
// 22 bits. It is in roundings (2^-24) of the sum of magnitudes. Errors of all elements add up.
double roundings(const Lines& a, const Written& wa, const Lines& b, const Written& wb) {
  const auto error_of = [](const Written& w, double truth, int line, int i) {
    const double error = std::abs(w.value(kHalves, line, i) - truth);
    return std::max(0.0, error - 0x1p-23 * std::abs(truth));
  };
  double worst = 0;
  for (int m = 0; m < a.lines; ++m) {
    for (int n = 0; n < b.lines; ++n) {
      double error = 0, magnitudes = 0;
      for (int i = 0; i < a.k; ++i) {
        const double x = a.at(m, i), y = b.at(n, i);
        magnitudes += std::abs(x * y);
        error += error_of(wa, x, m, i) * std::abs(y) + error_of(wb, y, n, i) * std::abs(x);
      }
      if (magnitudes > 0) worst = std::max(worst, error / magnitudes * 0x1p24);
    }
  }
  return worst;
}

// Nine elements in ten are zero, as behind an activation: the tenth that is left outweighs the
// small elements of the other operand.
TEST_P(SplitPass, LetsHalvesHoldZeros) {
  for (const bool along : {true, false}) {
    Lines dense = uniform_lines(24, 1024, 16), sparse = uniform_lines(24, 1024, 17);
    for (int line = 0; line < 24; ++line) {
      dense.at(line, 30 * line) = 0x1p-20f;
      for (int i = 0; i < 1024; ++i) {
        if ((i + line) % 10 > 0) sparse.at(line, i) = 0;
      }
    }
    const Written of_dense = split(kHalves, dense, along),
                  of_sparse = split(kHalves, sparse, along);
    EXPECT_TRUE(fit(of_dense, of_sparse));
    EXPECT_TRUE(fit(of_sparse, of_dense));
    EXPECT_LE(roundings(dense, of_dense, sparse, of_sparse), 8);
  }
}

// Lines as a GPT's backward pass has them. Few elements are far above the others, by a power of two
// of about `above`. They are softmax minus one-hot, products of normal numbers, and lines whose
// scale changes along k.
enum class Gradient { softmax, product, scales };
Lines gradient_lines(Gradient kind, int lines, int k, double above, unsigned seed) {
  Lines x{lines, k, std::vector<float>(static_cast<std::size_t>(lines * k))};
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (int line = 0; line < lines; ++line) {
    double scale = 1;
    for (int i = 0; i < k; ++i) {
      if (i % 16 == 0) scale = std::exp2(above / 4 * normal(random));
      const double value = kind == Gradient::softmax   ? std::exp2(normal(random) - above)
                           : kind == Gradient::product ? normal(random) * normal(random)
                                                       : normal(random) * scale;
      x.at(line, i) = static_cast<float>(value);
    }
    if (kind != Gradient::scales) {
      const double largest = kind == Gradient::softmax ? -0.9 : std::exp2(above);
      x.at(line, static_cast<int>(random() % static_cast<unsigned>(k))) =
          static_cast<float>(largest);
    }
  }
  return x;
}

TEST_P(SplitPass, LetsHalvesHoldGradients) {
  constexpr int kLines = 6, kDepth = 512;
  Lines weights{kLines, kDepth, std::vector<float>(kLines * kDepth)};
  std::mt19937 random(30);
  std::normal_distribution<float> normal;
  for (float& v : weights.value) v = normal(random);
  int fitting = 0, others = 0;
  for (const bool along : {true, false}) {
    const Written of_weights = split(kHalves, weights, along);
    for (const Gradient kind : {Gradient::softmax, Gradient::product, Gradient::scales}) {
      for (const double above : {6.0, 9.0, 12.0, 15.0, 18.0, 21.0, 24.0}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << ", 2^" << above);
        const Lines x = gradient_lines(kind, kLines, kDepth, above, 31);
        const Written written = split(kHalves, x, along);
        const bool fits = fit(written, of_weights), fits_itself = fit(written, written);
        EXPECT_EQ(fits, fit(of_weights, written));
        if (above <= 12) {
          EXPECT_TRUE(fits);
        }
        if (above >= 24 && kind != Gradient::scales) {
          EXPECT_FALSE(fits);
        }
        if (fits) {
          EXPECT_LE(roundings(x, written, weights, of_weights), 8);
        }
        if (fits_itself) {
          EXPECT_LE(roundings(x, written, x, written), 8);
        }
        fitting += fits + fits_itself, others += !fits + !fits_itself;
      }
    }
  }
  EXPECT_GE(std::min(fitting, others), 12) << "the rule is tried on both sides";
}

// The gradient of a softmax over a vocabulary of which a tenth is in use. Its lines' geometric mean
// says too little, but that of the pieces in use does, unless the other operand is zero there.
// Across memory a block sees only its part of the line, which may be without words in use.
TEST_P(SplitPass, LetsHalvesHoldAVocabulary) {
  constexpr int kLines = 2, kWords = 30000, kInUse = 3000;
  Lines gradient{kLines, kWords, std::vector<float>(kLines * kWords)}, weights = gradient;
  std::mt19937 random(40);
  std::normal_distribution<float> normal;
  for (float& v : weights.value) v = normal(random);
  Lines elsewhere = weights;
  for (int line = 0; line < kLines; ++line) {
    for (int i = 0; i < kWords; ++i) {
      gradient.at(line, i) = std::exp2(normal(random) - (i < kInUse ? 11.0f : 23.0f));
    }
    gradient.at(line, 100 + line) = -1;
    for (int i = 0; i < kInUse; ++i) elsewhere.at(line, i) = 0;
  }
  for (const bool along : {true, false}) {
    for (const bool other_along : {true, false}) {
      const Written of_gradient = split(kHalves, gradient, along),
                    of_weights = split(kHalves, weights, other_along),
                    of_elsewhere = split(kHalves, elsewhere, other_along);
      EXPECT_EQ(fit(of_gradient, of_weights), along);
      EXPECT_EQ(fit(of_weights, of_gradient), along);
      EXPECT_LE(roundings(gradient, of_gradient, weights, of_weights), 8);
      EXPECT_GT(roundings(gradient, of_gradient, elsewhere, of_elsewhere), 8);
      EXPECT_FALSE(fit(of_gradient, of_elsewhere));
      EXPECT_FALSE(fit(of_elsewhere, of_gradient));
    }
  }
}

// Where one operand is large the other is small. Marginal numbers cannot tell, so the rule has to
// expect it.
TEST_P(SplitPass, ExpectsLargeElementsToMeetSmallOnes) {
  constexpr int kDepth = 512;
  int fitting = 0, broken = 0;
  for (int far = 2; far <= 30; far += 2) {
    for (int near = 2; near <= far; near += 4) {
      Lines a{1, kDepth, std::vector<float>(kDepth)}, b = a;
      for (int i = 0; i < kDepth; ++i) {
        const bool first = i < kDepth / 4;
        a.at(0, i) = first ? 1.0f : std::ldexp(1.1f, -far);
        b.at(0, i) = first ? std::ldexp(1.3f, -near - far) : std::ldexp(1.7f, i % 2 ? 0 : -near);
      }
      const Written wa = split(kHalves, a, true), wb = split(kHalves, b, true);
      const double error = roundings(a, wa, b, wb);
      if (fit(wa, wb)) {
        EXPECT_LE(error, 8) << far << ", " << near;
        ++fitting;
      }
      broken += error > 8;
    }
  }
  EXPECT_GE(fitting, 5);
  EXPECT_GE(broken, 5);
}

// A line across memory lies in parts, of which each has its own numbers. What they say of a part
// does not hold beside a whole line of the other operand.
TEST_P(SplitPass, JoinsPartsBesideWholeLines) {
  constexpr int kDepth = 1536, kPart = 768;
  const Lines even = uniform_lines(3, kDepth, 21);
  Lines a{1, kDepth, std::vector<float>(kDepth)}, b = a;
  for (int i = 0; i < kDepth; ++i) {
    a.at(0, i) = std::ldexp(1.1f, i < kPart ? -22 : -10);
    b.at(0, i) = i < kPart ? 1.0f : 0x1p-16f;
  }
  a.at(0, kDepth - 1) = 1;
  for (const bool a_along : {true, false}) {
    for (const bool b_along : {true, false}) {
      const Written wa = split(kHalves, a, a_along), wb = split(kHalves, b, b_along);
      EXPECT_GT(roundings(a, wa, b, wb), 8);
      EXPECT_FALSE(fit(wa, wb)) << a_along << b_along;
      EXPECT_FALSE(fit(wb, wa)) << a_along << b_along;
      EXPECT_TRUE(fit(split(kHalves, even, a_along), split(kHalves, even, b_along)));
    }
  }
}

// The largest numbers of all lines, or of their parts of `span` elements, from each element. The
// last part may have 64 more.
Numbers counted(const Lines& x, int span) {
  Numbers most{};
  for (int line = 0; line < x.lines; ++line) {
    double largest = 0;
    for (int i = 0; i < x.k; ++i) largest = std::max(largest, std::abs(double{x.at(line, i)}));
    const double binade = std::exp2(std::floor(std::log2(largest * (1 + 0x1p-12))));
    for (int first = 0, end = 0; end < x.k; first = end) {
      end = first + span + 64 < x.k ? first + span : x.k;
      double below8 = 0, small = 0, mean = 0, logarithm = 0, of_piece = 0, roots = 0, least = 1;
      for (int i = first; i < end; ++i) {
        const double magnitude = std::abs(double{x.at(line, i)}) / binade;
        below8 += magnitude < 0x1p-8;
        small += magnitude > 0 && magnitude < 0x1p-17;
        mean += magnitude;
        of_piece += std::log2(std::max(magnitude, 0x1p-29));
        if (i % 256 < 255 && i + 1 < end) continue;
        const double length = i % 256 + 1, root = std::exp2(std::min(0.0, of_piece / length));
        roots += root * length, least = std::max(least, 1 / root);
        logarithm += of_piece, of_piece = 0;
      }
      const double length = end - first, depth = std::exp2(std::max(0.0, -logarithm / length));
      most.include({below8 / length, depth, mean / length * depth, mean / length, small / length,
                    length / roots, least});
    }
  }
  return most;
}

TEST_P(SplitPass, CountsTheLinesThatAreThereAndNoOthers) {
  // With how many elements of a line a block of a cluster of two has to do.
  for (const auto& [lines, k, gap, span] :
       {std::array{13, 512, 0, 256}, std::array{9, 700, 1, 512}, std::array{33, 1030, 2, 512},
        std::array{1, 256, 0, 256}, std::array{71, 1030, 0, 512}, std::array{5, 100, 3, 256},
        std::array{3, 17000, 1, 8704}}) {
    Lines x = uniform_lines(lines, k, 8);
    for (int i = 0; i < 7; ++i) x.at(lines / 2, 20 + 11 * i) = 0x1p-20f;
    for (int i = 0; i < 5; ++i) x.at(lines - 1, k - 1 - i) = -0x1p-30f;
    x.at(0, 17) = 0.0f;
    x.at(0, 18) = 0x1p-18f;
    for (const bool along : {true, false}) {
      SCOPED_TRACE(testing::Message() << lines << "x" << k << (along ? " along" : " across"));
      const Numbers told = most_of(split(kHalves, x, along, gap)),
                    truth = counted(x, along ? k : span);
      const auto expect_rounded_up = [](double number, double exact, double most) {
        EXPECT_GE(number, exact * (1 - 1e-6));
        EXPECT_LE(number, exact * most);
      };
      const double half_a_step = 0.5 / 255;
      EXPECT_NEAR(told.below8, truth.below8 + half_a_step, half_a_step + 1e-9);
      expect_rounded_up(told.small, truth.small, 1 + 0x1p-6);
      expect_rounded_up(told.mean, truth.mean, 1 + 0x1p-5);
      // The logarithm is taken along chords, twice.
      expect_rounded_up(told.depth, truth.depth, 1.14);
      expect_rounded_up(told.spread, truth.spread, 1.18);
      if (k > 8192) {  // of pieces
        expect_rounded_up(told.joined, truth.joined, 1.16);
        expect_rounded_up(told.least, truth.least, 1.14);
      }
    }
  }
}

TEST_P(SplitPass, SaysWhichLinesHalvesCannotHold) {
  const Lines even = uniform_lines(8, 64, 6);
  for (const float odd : {kInf, -kInf, kNan, 0x1p100f}) {
    for (const bool along : {true, false}) {
      Lines x = even;
      x.at(3, 11) = odd;
      EXPECT_FALSE(fit(split(kHalves, x, along), split(kHalves, even, along))) << odd;
      EXPECT_TRUE(fit(split(kHalves, even, along), split(kHalves, even, along)));
    }
  }
}

TEST_P(SplitPass, MarksLinesThatTf32PairsDoNotHold) {
  for (const bool along : {true, false}) {
    Lines x = uniform_lines(10, 96, 7);
    x.at(1, 95) = kInf;
    x.at(2, 0) = kNan;
    x.at(4, 33) = 0x1p-140f;                                // beside numbers near 1
    for (int i = 0; i < x.k; ++i) x.at(6, i) *= 0x1p-130f;  // all of them tiny: a scale helps
    for (int i = 0; i < x.k; ++i) x.at(7, i) = 0.0f;
    x.at(8, 50) = std::numeric_limits<float>::max();
    const Written w = split(kTf32, x, along);
    for (int line = 0; line < x.lines; ++line) {
      const bool marked = std::isnan(w.factor[static_cast<std::size_t>(line)]);
      if (line == 1 || line == 2 || line == 4) {
        EXPECT_TRUE(marked) << line;
      } else if (line != 6) {  // whose least elements may lie too far below
        EXPECT_FALSE(marked) << line;
      }
    }
    Lines held = x;
    for (const int line : {1, 2, 4, 6}) {
      for (int i = 0; i < x.k; ++i) held.at(line, i) = 0.5f;
    }
    expect_held(kTf32, held, split(kTf32, held, along), 0);
  }
}

}  // namespace
}  // namespace warpladder::kernel_tests
