// transpose, reduce, reduce_axis and vector_add through the C interface.

#include <algorithm>
#include <cmath>
#include <limits>

#include "library/testing.hpp"

namespace warpladder::library_tests {
namespace {

class Transpose : public WithHandle {};

TEST_F(Transpose, MovesEveryElement) {
  struct Shape {
    std::int64_t rows, columns, batch, gap;
  };
  for (const auto& [rows, columns, batch, gap] :
       {Shape{33, 65, 1, 0}, Shape{128, 64, 3, 0}, Shape{7, 500, 2, 3}, Shape{1, 9, 1, 1}}) {
    const std::int64_t ld_in = columns + gap, ld_out = rows + gap, stride_in = rows * ld_in + 5,
                       stride_out = columns * ld_out + 2;
    const auto in = random_floats(static_cast<std::size_t>(batch * stride_in), 1);
    const DeviceArray<float> in_there(in),
        out_there(std::vector<float>(static_cast<std::size_t>(batch * stride_out), 9.0f));
    ASSERT_SUCCEEDS(warpladder_transpose(handle_, rows, columns, in_there.data(), ld_in, stride_in,
                                         out_there.data(), ld_out, stride_out, batch, nullptr));
    std::vector<float> expected(out_there.size(), 9.0f);
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          expected[static_cast<std::size_t>(b * stride_out + j * ld_out + i)] =
              in[static_cast<std::size_t>(b * stride_in + i * ld_in + j)];
        }
      }
    }
    EXPECT_EQ(out_there.download(), expected);
  }
}

TEST_F(Transpose, WorksInPlace) {
  const std::int64_t n = 70, ld = 72, batch = 2, stride = n * ld;
  const auto in = random_floats(static_cast<std::size_t>(batch * stride), 1);
  const DeviceArray<float> there(in);
  ASSERT_SUCCEEDS(warpladder_transpose(handle_, n, n, there.data(), ld, stride, there.data(), ld,
                                       stride, batch, nullptr));
  std::vector<float> expected = in;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        expected[static_cast<std::size_t>(b * stride + j * ld + i)] =
            in[static_cast<std::size_t>(b * stride + i * ld + j)];
      }
    }
  }
  EXPECT_EQ(there.download(), expected);
}

class Reduce : public WithHandle {};

constexpr warpladder_reduction kFunctions[] = {WARPLADDER_SUM,    WARPLADDER_MEAN,
                                               WARPLADDER_MIN,    WARPLADDER_MAX,
                                               WARPLADDER_ARGMIN, WARPLADDER_ARGMAX};

// The value in float64, or the index, of elements `step` apart.
double truth(warpladder_reduction f, const float* x, std::int64_t n, std::int64_t step) {
  double sum = 0, magnitude = 0;
  std::int64_t least = -1, most = -1;
  for (std::int64_t i = 0; i < n; ++i) {
    const float v = x[i * step];
    sum += v;
    magnitude += std::abs(v);
    if (least < 0 || v < x[least * step]) least = i;
    if (most < 0 || v > x[most * step]) most = i;
  }
  constexpr double kInf = std::numeric_limits<double>::infinity();
  switch (f) {
    case WARPLADDER_SUM:
      return sum;
    case WARPLADDER_MEAN:
      return sum / static_cast<double>(n);
    case WARPLADDER_MIN:
      return n ? x[least * step] : kInf;
    case WARPLADDER_MAX:
      return n ? x[most * step] : -kInf;
    case WARPLADDER_ARGMIN:
      return static_cast<double>(least);
    default:
      return static_cast<double>(most);
  }
}
bool is_place(warpladder_reduction f) { return f == WARPLADDER_ARGMIN || f == WARPLADDER_ARGMAX; }
void expect_value(warpladder_reduction f, double got, double expected, std::int64_t n) {
  const double bound = f == WARPLADDER_SUM    ? 1e-6 * static_cast<double>(n)
                       : f == WARPLADDER_MEAN ? 1e-6
                                              : 0;
  EXPECT_TRUE(std::abs(got - expected) <= bound || got == expected ||
              (std::isnan(got) && std::isnan(expected)))
      << got << " is not " << expected << " for function " << f << " of " << n;
}

TEST_F(Reduce, GivesEveryFunction) {
  for (const std::int64_t n : {0, 1, 31, 1000, 40000, 300000}) {
    const auto x = random_floats(static_cast<std::size_t>(n), 1);
    const DeviceArray<float> x_there(x);
    for (const warpladder_reduction f : kFunctions) {
      const DeviceArray<float> value({NAN});
      const DeviceArray<std::int64_t> place({-7});
      void* const result = is_place(f) ? static_cast<void*>(place.data()) : value.data();
      ASSERT_SUCCEEDS(warpladder_reduce(handle_, f, n, x_there.data(), result, nullptr));
      const double got = is_place(f) ? static_cast<double>(place.download()[0])
                                     : static_cast<double>(value.download()[0]);
      expect_value(f, got, truth(f, x.data(), n, 1), n);
    }
  }
}

TEST_F(Reduce, GivesEveryFunctionOfRowsAndColumns) {
  struct Shape {
    std::int64_t rows, columns, ld;
  };
  for (const auto& [rows, columns, ld] :
       {Shape{5, 7, 7}, Shape{64, 128, 130}, Shape{3, 9001, 9001}, Shape{9001, 3, 3}}) {
    const auto x = random_floats(static_cast<std::size_t>(rows * ld), 2);
    const DeviceArray<float> x_there(x);
    for (const int axis : {0, 1}) {
      const std::int64_t count = axis == 1 ? rows : columns, length = axis == 1 ? columns : rows;
      for (const warpladder_reduction f : kFunctions) {
        const DeviceArray<float> values(std::vector<float>(static_cast<std::size_t>(count), NAN));
        const DeviceArray<std::int64_t> places(
            std::vector<std::int64_t>(static_cast<std::size_t>(count), -7));
        void* const results = is_place(f) ? static_cast<void*>(places.data()) : values.data();
        ASSERT_SUCCEEDS(warpladder_reduce_axis(handle_, f, axis, rows, columns, x_there.data(), ld,
                                               results, nullptr));
        const auto got_values = values.download();
        const auto got_places = places.download();
        for (std::int64_t i = 0; i < count; ++i) {
          const auto at = static_cast<std::size_t>(i);
          const double got = is_place(f) ? static_cast<double>(got_places[at])
                                         : static_cast<double>(got_values[at]);
          const float* const first = x.data() + (axis == 1 ? i * ld : i);
          expect_value(f, got, truth(f, first, length, axis == 1 ? 1 : ld), length);
        }
      }
    }
  }
}

class Memory : public WithHandle {};

TEST_F(Memory, IsTakenFilledReadAndGivenBack) {
  const auto values = random_floats(1000, 1);
  std::vector<float> back(values.size());
  void* there = nullptr;
  ASSERT_SUCCEEDS(warpladder_malloc(handle_, 4000, &there));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(there) % 256, 0u);
  EXPECT_SUCCEEDS(warpladder_upload(handle_, there, values.data(), 4000));
  EXPECT_SUCCEEDS(warpladder_download(handle_, back.data(), there, 4000));
  EXPECT_EQ(back, values);
  EXPECT_EQ(warpladder_download(handle_, nullptr, there, 4000), WARPLADDER_INVALID_ARGUMENT);
  EXPECT_EQ(warpladder_malloc(handle_, 4000, nullptr), WARPLADDER_INVALID_ARGUMENT);
  EXPECT_SUCCEEDS(warpladder_free(handle_, there));
  EXPECT_SUCCEEDS(warpladder_malloc(handle_, 0, &there));
  EXPECT_EQ(there, nullptr);
  EXPECT_SUCCEEDS(warpladder_free(handle_, nullptr));
}

class VectorAdd : public WithHandle {};

TEST_F(VectorAdd, AddsAlsoInPlace) {
  const auto a = random_floats(1001, 1), b = random_floats(1001, 2);
  std::vector<float> expected(a.size());
  std::transform(a.begin(), a.end(), b.begin(), expected.begin(), std::plus<>());
  const DeviceArray<float> a_there(a), b_there(b), c_there(std::vector<float>(a.size(), NAN));
  ASSERT_SUCCEEDS(warpladder_vector_add(handle_, 1001, a_there.data(), b_there.data(),
                                        c_there.data(), nullptr));
  EXPECT_EQ(c_there.download(), expected);
  ASSERT_SUCCEEDS(warpladder_vector_add(handle_, 1001, a_there.data(), b_there.data(),
                                        a_there.data(), nullptr));
  EXPECT_EQ(a_there.download(), expected);
}

}  // namespace
}  // namespace warpladder::library_tests
