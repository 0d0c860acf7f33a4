// Functions of elements and of pairs, applied to matrices and lines, against loops.

#include <algorithm>
#include <numeric>

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

class CompiledParts : public EveryFlavour {};
WARPLADDER_IN_EVERY_FLAVOUR(CompiledParts);

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 37 % 101) - 50.0f;
  return values;
}

TEST_P(CompiledParts, MapEachElementAndNoGap) {
  struct Case {
    std::int64_t rows, columns, ld;
    int vector;
  };
  for (const Case& c : {Case{1, 1, 1, 1}, {7, 13, 15, 1}, {9, 20, 24, 4}, {300, 4, 4, 4}}) {
    const std::vector<float> before = numbers(static_cast<std::size_t>(c.rows * c.ld));
    const Buffer<float> data(target(), before);
    run(c.vector == 4 ? "parts::map_elements<Leaky, 4>" : "parts::map_elements<Leaky, 1>",
        {{2}, {256}}, data, c.rows, c.columns, c.ld);
    std::vector<float> wanted = before;
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int64_t j = 0; j < c.columns; ++j) {
        float& x = wanted[static_cast<std::size_t>(i * c.ld + j)];
        x = x > 0 ? x : 0.5f * x;
      }
    }
    EXPECT_EQ(data.download(), wanted) << c.rows << "x" << c.columns;
  }
}

TEST_P(CompiledParts, FoldAllElements) {
  for (const std::int64_t n : {0, 1, 2, 33, 1000, 5000}) {
    const std::vector<float> values = numbers(static_cast<std::size_t>(n));
    const Buffer<float> in(target(), n > 0 ? values : std::vector<float>{9999});
    const Buffer<float> parts_of(target(), std::vector<float>(3, 7777)),
        out(target(), std::vector<float>{7.0f});
    for (const bool greater : {true, false}) {
      const std::string kernel = greater ? "parts::fold<Greater>" : "parts::fold<Plus>";
      const std::int64_t identity = greater ? -1000 : 0;
      run(kernel, {{3}, {256}}, in, n, identity, parts_of);
      run(kernel, {{1}, {256}}, parts_of, std::int64_t{3}, identity, out);
      // These sums are exact in fp32.
      const float wanted = greater
                               ? std::accumulate(values.begin(), values.end(), -1000.0f,
                                                 [](float a, float b) { return std::max(a, b); })
                               : std::accumulate(values.begin(), values.end(), 0.0f);
      EXPECT_EQ(out.download()[0], wanted) << kernel << " of " << n;
    }
  }
}

}  // namespace
}  // namespace warpladder::kernel_tests
