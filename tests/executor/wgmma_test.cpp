// The tensor cores' products against sums in float64, taken from the matrices themselves.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random_fill.hpp"
#include "kernels/counting.hpp"
#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

// A (lines × k) or B (columns × k), as floats that the tensor cores hold exactly.
struct Operand {
  int element_bytes;
  std::vector<float> values;

  // Rounds to what fits: a half, or a float without its lower 13 bits.
  static float fit(float value, int element_bytes) {
    if (element_bytes == 2) return static_cast<float>(static_cast<_Float16>(value));
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~0x1fffu);
  }
  std::vector<unsigned char> bytes(std::uint32_t noise) const {
    std::vector<unsigned char> out(values.size() * static_cast<std::size_t>(element_bytes));
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (element_bytes == 2) {
        const auto half = static_cast<_Float16>(values[i]);
        std::memcpy(&out[2 * i], &half, 2);
      } else {  // the lower bits hold what must not count
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(values[i]) | (noise & 0x1fffu);
        std::memcpy(&out[4 * i], &bits, 4);
      }
    }
    return out;
  }
};

struct Truth {
  double value, magnitude;  // the sum, and the sum of the magnitudes
};

class Wgmma : public EveryFlavour {
 protected:
  // One problem: `groups` warpgroups of 64 lines, `tiles` times 128 bytes of k of which the steps
  // [begin, end) count.
  struct Problem {
    int element_bytes, columns, groups, tiles, begin, end;
    bool add;
    int lines() const { return 64 * groups; }
    int k() const { return tiles * 128 / element_bytes; }
    int instructions() const { return tiles * (end - begin); }
  };

  std::vector<float> multiply(const Problem& p, const Operand& a, const Operand& b) {
    const Buffer<unsigned char> a_bytes(target(), a.bytes(0x1555)),
        b_bytes(target(), b.bytes(0xaaa));
    Buffer<float> out(target(), static_cast<std::size_t>(p.lines() * p.columns));
    const auto map = [&](const auto& data, int lines, int box) {
      return device::encode(target(), {data.data(), p.element_bytes, lines, p.k(), p.k(), box});
    };
    const std::size_t shared = static_cast<std::size_t>(p.columns + p.lines()) * 128 + 8;
    run("product<" + std::to_string(p.element_bytes) + ", " + std::to_string(p.columns) + ">",
        {{1}, {static_cast<unsigned>(128 * p.groups)}, shared}, map(a_bytes, p.lines(), 64),
        map(b_bytes, p.columns, p.columns), out, p.tiles, p.begin, p.end, p.add ? 1 : 0);
    return out.download();
  }
  static Truth truth(const Problem& p, const Operand& a, const Operand& b, int line, int column) {
    Truth t{p.add ? 1.0 : 0.0, p.add ? 1.0 : 0.0};
    const int in_step = 32 / p.element_bytes;
    for (int k = 0; k < p.k(); ++k) {
      const int step = k % (128 / p.element_bytes) / in_step;
      if (step < p.begin || step >= p.end) continue;
      const double product =
          static_cast<double>(a.values[static_cast<std::size_t>(line * p.k() + k)]) *
          static_cast<double>(b.values[static_cast<std::size_t>(column * p.k() + k)]);
      t.value += product;
      t.magnitude += std::fabs(product);
    }
    return t;
  }
  static Operand integers(const Problem& p, int lines, int seed) {
    Operand o{p.element_bytes, std::vector<float>(static_cast<std::size_t>(lines * p.k()))};
    unsigned state = static_cast<unsigned>(seed);
    for (float& value : o.values) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(static_cast<int>(state >> 24) % 17 - 8);
    }
    return o;
  }
  static Operand random(const Problem& p, int lines, std::uint64_t seed) {
    Operand o{p.element_bytes, std::vector<float>(static_cast<std::size_t>(lines * p.k()))};
    fill_uniform(o.values, seed, -1.0f, 1.0f);
    for (float& value : o.values) value = Operand::fit(value, p.element_bytes);
    return o;
  }
  static std::vector<Problem> problems() {
    std::vector<Problem> list;
    for (const int element_bytes : {2, 4}) {
      for (const int columns : {32, 64, 128}) {
        list.push_back({element_bytes, columns, 1, 1, 0, 1, false});
        list.push_back({element_bytes, columns, 1, 1, 1, 2, true});   // 32 bytes on
        list.push_back({element_bytes, columns, 1, 1, 2, 3, false});  // 64
        list.push_back({element_bytes, columns, 2, 3, 0, 4, true});
        list.push_back({element_bytes, columns, 2, 2, 1, 4, false});
      }
    }
    return list;
  }
};
WARPLADDER_IN_EVERY_FLAVOUR(Wgmma);

TEST_P(Wgmma, SmallIntegersAreExact) {
  for (const Problem& p : problems()) {
    const Operand a = integers(p, p.lines(), 1), b = integers(p, p.columns, 2);
    const std::vector<float> got = multiply(p, a, b);
    for (int line = 0; line < p.lines(); ++line) {
      for (int column = 0; column < p.columns; ++column) {
        ASSERT_EQ(static_cast<double>(got[static_cast<std::size_t>(line * p.columns + column)]),
                  truth(p, a, b, line, column).value)
            << line << "," << column << " of " << p.element_bytes << " bytes, " << p.columns
            << " columns, steps " << p.begin << " to " << p.end;
      }
    }
  }
}

// The executor truncates once an instruction; a GPU also each product, to a bit or two more.
TEST_P(Wgmma, RandomNumbersAreWithinTheTruncation) {
  const double units = on_gpu() ? 4 : 1;
  for (const Problem& p : problems()) {
    const Operand a = random(p, p.lines(), 3), b = random(p, p.columns, 4);
    const std::vector<float> got = multiply(p, a, b);
    for (int line = 0; line < p.lines(); ++line) {
      for (int column = 0; column < p.columns; ++column) {
        const Truth t = truth(p, a, b, line, column);
        const double value = got[static_cast<std::size_t>(line * p.columns + column)];
        const double bound = units * p.instructions() * std::ldexp(t.magnitude, -23);
        ASSERT_TRUE(std::fabs(value - t.value) <= bound) << value << " for " << t.value;
      }
    }
  }
}

// One instruction: the sum in float64 is exact, and the executor's is the float next to it on the
// side of zero.
TEST_P(Wgmma, TruncatesOnceAnInstruction) {
  if (on_gpu()) GTEST_SKIP() << "of the executor's model alone";
  for (const int element_bytes : {2, 4}) {
    const Problem p{element_bytes, 64, 1, 1, 0, 1, true};
    const Operand a = random(p, 64, 5), b = random(p, 64, 6);
    const std::vector<float> got = multiply(p, a, b);
    int inexact = 0;
    for (int i = 0; i < 64 * 64; ++i) {
      const double exact = truth(p, a, b, i / 64, i % 64).value;
      const float value = got[static_cast<std::size_t>(i)];
      const float beyond = std::nextafter(value, std::copysign(100.0f, value));
      ASSERT_LE(std::fabs(static_cast<double>(value)), std::fabs(exact));
      ASSERT_GT(std::fabs(static_cast<double>(beyond)), std::fabs(exact));
      inexact += static_cast<double>(value) != exact;
    }
    EXPECT_GT(inexact, 1000) << "nothing was truncated: the test shows nothing";
  }
}

TEST_P(Wgmma, NanAndInfinitySpreadToTheirRowAndColumn) {
  for (const int element_bytes : {2, 4}) {
    const Problem p{element_bytes, 64, 1, 1, 0, 4, false};
    Operand a = integers(p, 64, 7), b = integers(p, 64, 8);
    for (float& value : b.values) value = std::fabs(value) + 1;
    a.values[static_cast<std::size_t>(5 * p.k() + 3)] = std::numeric_limits<float>::quiet_NaN();
    a.values[static_cast<std::size_t>(9 * p.k() + 1)] = std::numeric_limits<float>::infinity();
    if (element_bytes == 4) {  // whose lower bits would make a NaN of an infinity
      a.values[static_cast<std::size_t>(9 * p.k() + 1)] = 0x1.ffcp127f;
      for (float& value : b.values) value = 4;
    }
    const std::vector<float> got = multiply(p, a, b);
    for (int i = 0; i < 64 * 64; ++i) {
      const float value = got[static_cast<std::size_t>(i)];
      if (i / 64 == 5) {
        ASSERT_TRUE(std::isnan(value)) << i;
      } else if (i / 64 != 9) {
        ASSERT_EQ(static_cast<double>(value), truth(p, a, b, i / 64, i % 64).value) << i;
      } else if (element_bytes == 2) {
        ASSERT_TRUE(std::isinf(value) && value > 0) << value;
      }
    }
  }
}

TEST(WgmmaCounts, MultiplyAddsAreCountedOnceAWarpgroup) {
  for (const int element_bytes : {2, 4}) {
    const Buffer<unsigned char> bytes(Target::cpu, std::vector<unsigned char>(128 * 256));
    const int k = 256 / element_bytes;
    const auto a = device::encode(Target::cpu, {bytes.data(), element_bytes, 128, k, k, 64}),
               b = device::encode(Target::cpu, {bytes.data(), element_bytes, 64, k, k, 64});
    Buffer<float> out(Target::cpu, 128 * 64);
    Counted c("semantics_wgmma.sm90a.cu", "product<" + std::to_string(element_bytes) + ", 64>",
              {{1}, {256}, 192 * 128 + 8}, a, b, out, 2, 0, 4, 0);
    c.expect_tensor_fmas(element_bytes == 2 ? "halves" : "floats", 128 * 64 * k);
  }
}

// A from registers, in bfloat16: exact where the sums are small integers times a power of two, in
// FP32's whole range; infinities and NaN spread.
TEST_P(Wgmma, WordsFromRegistersAreMultiplied) {
  const auto words_of = [](const std::vector<float>& values) {
    std::vector<std::uint32_t> words(values.size() / 2);
    for (std::size_t i = 0; i < values.size(); ++i) {
      words[i / 2] |= std::bit_cast<std::uint32_t>(values[i]) >> 16 << i % 2 * 16;
    }
    return words;
  };
  for (const int columns : {16, 32, 64, 128}) {
    for (const auto& [scale_a, scale_b] : {std::pair{1.0f, 1.0f},
                                           {0x1p100f, 0x1p-120f},
                                           {0x1p-133f, 0x1p100f},    // subnormal
                                           {0x1p-70f, 0x1p-70f}}) {  // as is their product
      for (const int add : {0, 1}) {
        const Problem p{2, columns, 1, 1, 0, 1, false};
        std::vector<float> a = integers(p, 64, 11).values, b = integers(p, columns, 12).values;
        a.resize(64 * 16);
        b.resize(static_cast<std::size_t>(columns) * 16);
        for (float& value : a) value *= scale_a;
        for (float& value : b) value *= scale_b;
        const float infinity = std::numeric_limits<float>::infinity();
        a[5 * 16 + 3] = infinity;
        a[9 * 16 + 15] = std::numeric_limits<float>::quiet_NaN();
        for (int column = 0; column < columns; ++column) {
          b[static_cast<std::size_t>(column * 16 + 3)] = scale_b;
        }
        const Buffer<std::uint32_t> a_there(target(), words_of(a)), b_there(target(), words_of(b));
        Buffer<float> out(target(), static_cast<std::size_t>(64 * columns));
        run("product_of_words<" + std::to_string(columns) + ">",
            {{1}, {128}, static_cast<std::size_t>(columns) * 128}, a_there, b_there, out, add);
        const std::vector<float> got = out.download();
        for (int i = 0; i < 64 * columns; ++i) {
          const int row = i / columns, column = i % columns;
          const float value = got[static_cast<std::size_t>(i)];
          if (row == 9) {
            ASSERT_TRUE(std::isnan(value));
          } else if (row == 5) {
            ASSERT_EQ(value, infinity);
          } else {
            double exact = 0;
            for (int k = 0; k < 16; ++k) {
              exact += static_cast<double>(a[static_cast<std::size_t>(row * 16 + k)]) *
                       static_cast<double>(b[static_cast<std::size_t>(column * 16 + k)]);
            }
            ASSERT_EQ(static_cast<double>(value), exact * (1 + add))
                << row << "," << column << " of " << columns << ", times " << scale_a * scale_b;
          }
        }
      }
    }
  }
}

TEST(WgmmaCounts, MultiplyAddsOfWordsAreCountedOnceAWarpgroup) {
  const Buffer<std::uint32_t> a(Target::cpu, std::vector<std::uint32_t>(64 * 8)),
      b(Target::cpu, std::vector<std::uint32_t>(64 * 8));
  Buffer<float> out(Target::cpu, 64 * 64);
  Counted c("semantics_wgmma.sm90a.cu", "product_of_words<64>", {{1}, {128}, 64 * 128}, a, b, out,
            1);
  c.expect_tensor_fmas("first", 64 * 64 * 16);
  c.expect_tensor_fmas("second", 64 * 64 * 16);
}

// Two warps' products in float64 against sums in quadruple precision.
TEST_P(Wgmma, WarpsMultiplyInFloat64) {
  for (const int k : {4, 8, 60}) {
    std::vector<float> a(2 * 16 * static_cast<std::size_t>(k)), b(a.size() / 2);
    fill_uniform(a, 9, -1.0f, 1.0f);
    fill_uniform(b, 10, -1.0f, 1.0f);
    a[5] *= 0x1p100f;  // no range is too wide
    b[3] *= 0x1p-140f;
    std::vector<double> start(2 * 16 * 8);
    for (std::size_t i = 0; i < start.size(); ++i) start[i] = 1.0 / (1.0 + static_cast<double>(i));
    const Buffer<float> a_there(target(), a), b_there(target(), b);
    Buffer<double> sums(target(), start);
    run("warp_product", {{1}, {64}}, a_there, b_there, sums, k);
    const std::vector<double> got = sums.download();
    for (int i = 0; i < 2 * 16 * 8; ++i) {
      const int warp = i / 128, row = i % 128 / 8, column = i % 8;
      __float128 exact = start[static_cast<std::size_t>(i)];
      double magnitude = start[static_cast<std::size_t>(i)];
      for (int p = 0; p < k; ++p) {
        const double product =
            static_cast<double>(a[static_cast<std::size_t>((warp * 16 + row) * k + p)]) *
            static_cast<double>(b[static_cast<std::size_t>((warp * k + p) * 8 + column)]);
        exact += product;
        magnitude += std::fabs(product);
      }
      const __float128 error = exact - got[static_cast<std::size_t>(i)];
      ASSERT_LE(std::fabs(static_cast<double>(error)), k * std::ldexp(magnitude, -53))
          << i << " of k = " << k;
    }
  }
}

TEST(WgmmaCounts, MultiplyAddsInFloat64AreCountedOnceAWarp) {
  const Buffer<float> a(Target::cpu, std::vector<float>(2 * 16 * 8)),
      b(Target::cpu, std::vector<float>(2 * 8 * 8));
  Buffer<double> sums(Target::cpu, std::vector<double>(2 * 16 * 8));
  Counted c("semantics_wgmma.sm90a.cu", "warp_product", {{1}, {64}}, a, b, sums, 8);
  c.expect_tensor_fmas("float64", 2 * 16 * 8 * 8);
}

}  // namespace
}  // namespace warpladder::kernel_tests
