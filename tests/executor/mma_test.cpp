// Products of a warp against sums in float64, matrices against their rows, and a ring of copies.

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random_fill.hpp"
#include "kernels/counting.hpp"
#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr int kRows = 16, kColumns = 8;

// What the tensor cores hold of a float: a half, or a float without its lower 13 bits.
float fit(float value, int element_bytes) {
  if (element_bytes == 2) return static_cast<float>(static_cast<_Float16>(value));
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~0x1fffu);
}
std::vector<std::uint32_t> words_of(const std::vector<float>& values, int element_bytes) {
  std::vector<std::uint32_t> words(values.size() * static_cast<std::size_t>(element_bytes) / 4);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (element_bytes == 4) {  // the lower bits hold what must not count
      words[i] = std::bit_cast<std::uint32_t>(values[i]) | (i % 2 ? 0x1555u : 0xaaau);
    } else {
      const auto bits = std::bit_cast<std::uint16_t>(static_cast<_Float16>(values[i]));
      words[i / 2] |= std::uint32_t{bits} << i % 2 * 16;
    }
  }
  return words;
}

struct Product {
  int element_bytes, steps;
  bool adds;
  std::vector<float> a, b, c;

  Product(int bytes, int step_count, bool add)
      : element_bytes(bytes),
        steps(step_count),
        adds(add),
        a(static_cast<std::size_t>(kRows * depth())),
        b(static_cast<std::size_t>(kColumns * depth())),
        c(kRows * kColumns) {}
  int depth() const { return 32 / element_bytes * steps; }
  void draw(std::uint64_t seed) {
    fill_uniform(a, seed, -1.0f, 1.0f);
    fill_uniform(b, seed + 1, -1.0f, 1.0f);
    fill_uniform(c, seed + 2, -1.0f, 1.0f);
    for (auto* x : {&a, &b}) {
      for (float& value : *x) value = fit(value, element_bytes);
    }
  }
  std::string kernel() const {
    return "warp_of_words<" + std::to_string(element_bytes) + (adds ? ", true>" : ", false>");
  }
  // The sum, and the sum of the magnitudes.
  std::pair<double, double> truth(int row, int column) const {
    const double start = adds ? static_cast<double>(c[at(row, kColumns, column)]) : 0;
    std::pair<double, double> sum{start, std::fabs(start)};
    for (int k = 0; k < depth(); ++k) {
      if (!adds && k < depth() - depth() / steps) continue;  // each instruction begins from zero
      const double product = static_cast<double>(a[at(row, depth(), k)]) *
                             static_cast<double>(b[at(column, depth(), k)]);
      sum.first += product;
      sum.second += std::fabs(product);
    }
    return sum;
  }
  static std::size_t at(int line, int length, int i) {
    return static_cast<std::size_t>(line * length + i);
  }
};

class Mma : public EveryFlavour {
 protected:
  std::vector<float> multiply(const Product& p) {
    const Buffer<std::uint32_t> a(target(), words_of(p.a, p.element_bytes)),
        b(target(), words_of(p.b, p.element_bytes));
    const Buffer<float> c(target(), p.c);
    Buffer<float> out(target(), kRows * kColumns);
    run(p.kernel(), {{1}, {32}}, a, b, c, out, p.steps);
    return out.download();
  }
  template <class Check>
  void for_each_sum(const Product& p, const Check& check) {
    const std::vector<float> got = multiply(p);
    for (int i = 0; i < kRows * kColumns; ++i) {
      const auto [value, magnitude] = p.truth(i / kColumns, i % kColumns);
      check(got[static_cast<std::size_t>(i)], value, magnitude);
    }
  }
};
WARPLADDER_IN_EVERY_FLAVOUR(Mma);

TEST_P(Mma, SmallIntegersAreExact) {
  for (const int bytes : {2, 4}) {
    for (const bool adds : {true, false}) {
      for (const int steps : {1, 2, 5}) {
        Product p(bytes, steps, adds);
        unsigned state = 7;
        for (auto* x : {&p.a, &p.b, &p.c}) {
          for (float& value : *x) {
            state = state * 1664525u + 1013904223u;
            value = static_cast<float>(static_cast<int>(state >> 24) % 17 - 8);
          }
        }
        for_each_sum(p, [&](float got, double truth, double) {
          ASSERT_EQ(static_cast<double>(got), truth) << bytes << " bytes, " << steps << " steps";
        });
      }
    }
  }
}

// The executor truncates once an instruction; a GPU also each product, to a bit or two more.
TEST_P(Mma, RandomNumbersAreWithinTheTruncation) {
  const double units = on_gpu() ? 4 : 1;
  for (const int bytes : {2, 4}) {
    for (const bool adds : {true, false}) {
      Product p(bytes, 4, adds);
      p.draw(3);
      for_each_sum(p, [&](float got, double truth, double magnitude) {
        const double bound = units * p.steps * std::ldexp(magnitude, -23);
        ASSERT_TRUE(std::fabs(static_cast<double>(got) - truth) <= bound) << got << " " << truth;
      });
    }
  }
}

// One instruction: the sum in float64 is exact, and the executor's is the float next to it on the
// side of zero.
TEST_P(Mma, TruncatesOnceAnInstruction) {
  if (on_gpu()) GTEST_SKIP() << "of the executor's model alone";
  int inexact = 0;
  for (const int bytes : {2, 4}) {
    Product p(bytes, 1, true);
    p.draw(5);
    for_each_sum(p, [&](float got, double truth, double) {
      const float beyond = std::nextafter(got, std::copysign(100.0f, got));
      ASSERT_LE(std::fabs(static_cast<double>(got)), std::fabs(truth));
      ASSERT_GT(std::fabs(static_cast<double>(beyond)), std::fabs(truth));
      inexact += static_cast<double>(got) != truth;
    });
  }
  EXPECT_GT(inexact, 100) << "nothing was truncated: the test shows nothing";
}

TEST_P(Mma, NanAndInfinitySpreadToTheirRow) {
  for (const int bytes : {2, 4}) {
    Product p(bytes, 2, true);
    p.draw(8);
    for (float& value : p.b) value = std::fabs(value) + 1;
    p.a[Product::at(5, p.depth(), 3)] = std::numeric_limits<float>::quiet_NaN();
    if (bytes == 2) p.a[Product::at(9, p.depth(), 1)] = std::numeric_limits<float>::infinity();
    const std::vector<float> got = multiply(p);
    for (int i = 0; i < kRows * kColumns; ++i) {
      const float value = got[static_cast<std::size_t>(i)];
      EXPECT_EQ(std::isnan(value), i / kColumns == 5) << i;
      EXPECT_EQ(std::isinf(value), bytes == 2 && i / kColumns == 9) << i;
    }
  }
}

// What lane `lane` gets of matrix m, from the rows' halves.
std::uint32_t matrix_word(const std::vector<std::uint32_t>& rows, int m, int lane,
                          bool transposed) {
  const auto half = [&](int row, int column) {
    const std::uint32_t word = rows[static_cast<std::size_t>((8 * m + row) * 4 + column / 2)];
    return word >> column % 2 * 16 & 0xffffu;
  };
  const int g = lane / 4, t = 2 * (lane % 4);
  return transposed ? half(t, g) | half(t + 1, g) << 16 : half(g, t) | half(g, t + 1) << 16;
}

class Matrices : public EveryFlavour {};
WARPLADDER_IN_EVERY_FLAVOUR(Matrices);

TEST_P(Matrices, LanesGetTheirWords) {
  for (const int count : {1, 2, 4}) {
    std::vector<std::uint32_t> in(static_cast<std::size_t>(8 * count * 4));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(i * 2654435761u);
    for (const bool transposed : {false, true}) {
      for (const int pitch : {4, 12, 32}) {
        const Buffer<std::uint32_t> rows(target(), in);
        Buffer<std::uint32_t> out(target(), static_cast<std::size_t>(32 * count));
        const std::string kernel =
            "matrices<" + std::to_string(count) + (transposed ? ", true>" : ", false>");
        run(kernel, {{1}, {32}, 32 * 128}, rows, out, pitch);
        const std::vector<std::uint32_t> got = out.download();
        for (int i = 0; i < 32 * count; ++i) {
          ASSERT_EQ(got[static_cast<std::size_t>(i)],
                    matrix_word(in, i % count, i / count, transposed))
              << kernel << " " << i;
        }
      }
    }
  }
}

class Ring : public EveryFlavour {};
WARPLADDER_IN_EVERY_FLAVOUR(Ring);

TEST_P(Ring, CopiesArriveByThemselves) {
  constexpr int kThreads = 128;
  for (const int tiles : {1, 2, 3, 4, 11}) {
    const std::vector<float> in =
        whole_numbers(static_cast<std::size_t>(tiles * kThreads * 4), 9973);
    std::vector<float> expected(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t of_tile = i % (kThreads * 4), tile = i / (kThreads * 4),
                        thread = kThreads - 1 - of_tile / 4;
      const bool exists = static_cast<int>(tile) + 1 < tiles || i % 4 < 2;
      expected[i] = exists ? in[tile * kThreads * 4 + thread * 4 + i % 4] : 0.0f;
    }
    const Buffer<float> from(target(), in);
    Buffer<float> to(target(), in.size());
    run("ring_of_copies", {{1}, {kThreads}, 3 * kThreads * 16 + 64}, from, to, tiles);
    EXPECT_EQ(to.download(), expected) << tiles;
  }
}

TEST(MmaCounts, MultiplyAddsAreCountedOnceAWarp) {
  for (const int bytes : {2, 4}) {
    const Buffer<std::uint32_t> a(Target::cpu, std::vector<std::uint32_t>(16 * 8 * 3)),
        b(Target::cpu, std::vector<std::uint32_t>(8 * 8 * 3));
    Buffer<float> c(Target::cpu, std::vector<float>(128));
    Counted counted("semantics_mma.cu", "warp_of_words<" + std::to_string(bytes) + ", true>",
                    {{1}, {32}}, a, b, c, c, 3);
    counted.expect_tensor_fmas(bytes == 2 ? "halves" : "floats", 16 * 8 * 32 / bytes * 3);
  }
}

// Eight rows of 16 bytes go through the 32 banks in one pass where they lie on different ones.
TEST(MmaCounts, RowsOfMatricesMeetInTheBanks) {
  const auto expect = [](int count, int pitch, unsigned passes) {
    const Buffer<std::uint32_t> rows(Target::cpu, std::vector<std::uint32_t>(128));
    Buffer<std::uint32_t> out(Target::cpu, 128);
    Counted counted("semantics_mma.cu", "matrices<" + std::to_string(count) + ", false>",
                    {{1}, {32}, 32 * 128}, rows, out, pitch);
    const auto matrices = static_cast<std::uint64_t>(count);
    counted.expect("rows", shared_load(16),
                   {1, 8 * matrices, passes * matrices, matrices, passes * unsigned(count)});
  };
  for (const int count : {1, 2, 4}) {
    expect(count, 4, 1);   // 128 bytes in a row
    expect(count, 20, 1);  // 20·r mod 32: 0, 20, 8, 28, 16, 4, 24, 12
    expect(count, 8, 2);   // rows 4 apart meet
    expect(count, 32, 8);  // all meet
  }
}

}  // namespace
}  // namespace warpladder::kernel_tests
