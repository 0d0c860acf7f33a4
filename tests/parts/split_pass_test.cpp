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
    kTf32{"parts::Tf32Pairs", 16, 8, 0x1p-23}, kOnce{"parts::Tf32Once", 32, 4, 0x1p-11};

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
  std::vector<unsigned> spread;  // of each block: small, far

  // The sum of the parts of an element, as the product sees it.
  double value(const PairsKind& kind, int line, int i) const {
    const unsigned char* const group =
        &pairs[static_cast<std::size_t>((line * depth + i / kind.group * kind.group) * kind.bytes)];
    const auto part = [&](int place) {
      if (kind.bytes == 4 && kind.group == 32 && kind.relative < 0x1p-20) {
        return static_cast<double>(reinterpret_cast<const _Float16*>(group)[place]);
      }
      return static_cast<double>(reinterpret_cast<const float*>(group)[place]);
    };
    const int in_group = i % kind.group;
    const double lo = kind.relative < 0x1p-20 ? part(in_group + kind.group) : 0.0;
    return (part(in_group) + lo) * static_cast<double>(factor[static_cast<std::size_t>(line)]);
  }
};

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
    // A block has at least one line along memory, a cluster of two 32 across.
    const unsigned blocks =
        along ? static_cast<unsigned>(x.lines) : static_cast<unsigned>((x.lines + 31) / 32 * 2);
    const Buffer<float> data(target(), memory);
    Buffer<unsigned char> pairs(target(), lines * static_cast<std::size_t>(depth * kind.bytes));
    Buffer<float> factor(target(), lines);
    Buffer<unsigned> spread(target(), 2 * blocks);
    pairs.fill_bytes(0xff);
    factor.fill_bytes(0xff);
    spread.fill_bytes(0xff);
    const std::string kernel =
        std::string(along ? "split_along_memory<" : "split_across_memory<") + kind.name + ">";
    run(kernel, {{blocks}, {256}, 80 << 10, along ? 1u : 2u}, data, pairs, factor, spread, ld,
        x.lines, x.k);
    EXPECT_TRUE(pairs.guards_intact() && factor.guards_intact() && spread.guards_intact());
    return {depth, pairs.download(), factor.download(), spread.download()};
  }

  bool fit(const Written& a, const Written& b) {
    std::vector<unsigned> both = a.spread;
    both.insert(both.end(), b.spread.begin(), b.spread.end());
    Buffer<unsigned> spread(target(), both), answer(target(), 128);
    run("halves_fit", {{1}, {128}}, spread, answer, static_cast<int>(a.spread.size() / 2),
        static_cast<int>(b.spread.size() / 2));
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
  // Rows of memory begin in each of four ways on 16 bytes.
  for (const auto& [lines, k, gap] :
       {std::array{1, 1, 0}, std::array{17, 63, 3}, std::array{40, 300, 1}, std::array{32, 512, 4},
        std::array{33, 1030, 1}, std::array{5, 1041, 0}, std::array{67, 1030, 0},
        std::array{70, 700, 0}, std::array{71, 1041, 2}, std::array{99, 300, 1}}) {
    for (const bool along : {true, false}) {
      SCOPED_TRACE(testing::Message() << lines << "x" << k << (along ? " along" : " across"));
      const Lines uniform = uniform_lines(lines, k, 1), wide = wide_lines(lines, k, 20, 2);
      expect_held(kHalves, uniform, split(kHalves, uniform, along, gap), 0x1p-39);
      expect_held(kHalves, wide, split(kHalves, wide, along, gap), 0x1p-39);
      expect_held(kTf32, uniform, split(kTf32, uniform, along, gap), 0);
      expect_held(kTf32, wide, split(kTf32, wide, along, gap), 0);
      expect_held(kOnce, wide, split(kOnce, wide, along, gap), 0);
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
      EXPECT_EQ(w.factor[static_cast<std::size_t>(line)], std::ldexp(1.0f, 5 * line - 60 - 14));
    }
    expect_held(kHalves, x, w, 0x1p-39);
  }
}

TEST_P(SplitPass, CountsWhetherHalvesFit) {
  for (const bool along : {true, false}) {
    const Written even = split(kHalves, uniform_lines(24, 512, 4), along),
                  wide = split(kHalves, wide_lines(24, 512, 20, 5), along);
    for (std::size_t at = 0; at < even.spread.size(); at += 2) {
      EXPECT_EQ(even.spread[at], 0u) << "of 2^-16 of the largest there are hardly any";
      EXPECT_LE(even.spread[at + 1], 12u) << "of 2^-8, one of 256";
    }
    // Of magnitudes over 40 powers of two, 24 of 40 are below 2^-16 of the largest.
    unsigned small = 0;
    for (std::size_t at = 0; at < wide.spread.size(); at += 2) {
      small = std::max(small, wide.spread[at]);
    }
    EXPECT_GT(small, 120u);
    EXPECT_LE(small, 256u);
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
    for (std::size_t at = 0; at < zeros.spread.size(); at += 2) EXPECT_EQ(zeros.spread[at], 0u);
  }
}

// The most over all lines and pieces, counted one by one; k is 256 at the least.
std::array<unsigned, 2> most_small_and_far(const Lines& x) {
  std::array<unsigned, 2> most{};
  for (int line = 0; line < x.lines; ++line) {
    double largest = 0;
    for (int i = 0; i < x.k; ++i) largest = std::max(largest, std::abs(double{x.at(line, i)}));
    const double binade = std::exp2(std::floor(std::log2(largest)));
    for (int first = 0; first < x.k; first += 256) {
      unsigned small = 0, far = 0;
      for (int i = first; i < std::min(first + 256, x.k); ++i) {
        const double magnitude = std::abs(double{x.at(line, i)});
        small += magnitude > 0 && magnitude < binade * 0x1p-16;
        far += magnitude < binade * 0x1p-8;
      }
      most[0] = std::max(most[0], small);
      if (first + 256 <= x.k) most[1] = std::max(most[1], far);
    }
  }
  return most;
}

TEST_P(SplitPass, CountsTheLinesThatAreThereAndNoOthers) {
  for (const auto& [lines, k, gap] :
       {std::array{13, 512, 0}, std::array{9, 700, 1}, std::array{33, 1030, 2},
        std::array{1, 256, 0}, std::array{71, 1030, 0}}) {
    Lines x = uniform_lines(lines, k, 8);
    for (int i = 0; i < 7; ++i) x.at(lines / 2, 100 + 11 * i) = 0x1p-20f;
    for (int i = 0; i < 5; ++i) x.at(lines - 1, k - 1 - i) = -0x1p-30f;
    x.at(0, 17) = 0.0f;
    for (const bool along : {true, false}) {
      const Written w = split(kHalves, x, along, gap);
      std::array<unsigned, 2> most{};
      for (std::size_t at = 0; at < w.spread.size(); ++at) {
        most[at % 2] = std::max(most[at % 2], w.spread[at]);
      }
      EXPECT_EQ(most, most_small_and_far(x)) << lines << "x" << k << (along ? " along" : " across");
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
