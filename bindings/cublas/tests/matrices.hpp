#pragma once
// Small operands, and the truth of a product, element by element, in float64.

#include <cublas_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "made_up_cublas.hpp"
#include "made_up_gpu.hpp"

namespace shim_tests {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

inline std::vector<float> numbers(std::int64_t count, unsigned seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 20) / 2048.0f - 1.0f;
  }
  return values;
}

inline bool turns(cublasOperation_t op) { return op != CUBLAS_OP_N; }

// A product by columns, with gaps between lines, of `batch` matrices with gaps between them.
struct Case {
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  std::int64_t m = 5, n = 4, k = 3, batch = 1;
  float alpha = 1.5f, beta = -0.5f;
  std::int64_t lda = 0, ldb = 0, ldc = 0, stride_a = 0, stride_b = 0, stride_c = 0;
  std::vector<float> a, b, c, before;

  void make() {
    const std::int64_t a_columns = turns(op_a) ? m : k, b_columns = turns(op_b) ? k : n;
    lda = (turns(op_a) ? k : m) + 1;
    ldb = (turns(op_b) ? n : k) + 2;
    ldc = m + 3;
    stride_a = lda * a_columns + 5;
    stride_b = ldb * b_columns + 7;
    stride_c = ldc * n + 9;
    a = numbers(stride_a * batch, 1);
    b = numbers(stride_b * batch, 2);
    c = beta == 0 ? std::vector<float>(static_cast<std::size_t>(stride_c * batch), kNaN)
                  : numbers(stride_c * batch, 3);
    before = c;
  }

  double truth(std::int64_t i, std::int64_t j, std::int64_t matrix) const {
    const auto at = [](const std::vector<float>& x, std::int64_t place) {
      return double{x[static_cast<std::size_t>(place)]};
    };
    double sum = 0;
    for (std::int64_t t = 0; t < k; ++t) {
      const double left = at(a, matrix * stride_a + (turns(op_a) ? t + i * lda : i + t * lda));
      const double right = at(b, matrix * stride_b + (turns(op_b) ? j + t * ldb : t + j * ldb));
      sum += left * right;
    }
    return alpha * sum + (beta == 0 ? 0 : beta * at(before, matrix * stride_c + i + j * ldc));
  }

  // C is right, and what lies between its lines has not changed.
  void expect_right() const {
    for (std::int64_t place = 0; place < stride_c * batch; ++place) {
      const std::int64_t within = place % stride_c, i = within % ldc, j = within / ldc;
      const auto at = static_cast<std::size_t>(place);
      if (i < m && j < n) {
        EXPECT_NEAR(c[at], truth(i, j, place / stride_c), 1e-5) << i << ' ' << j;
      } else if (std::isnan(before[at])) {
        EXPECT_TRUE(std::isnan(c[at])) << place;
      } else {
        EXPECT_EQ(c[at], before[at]) << place;
      }
    }
  }
};

// Arrays of pointers to the matrices of a case.
struct Pointers {
  std::vector<const float*> a, b;
  std::vector<float*> c;
  explicit Pointers(Case& of) {
    for (std::int64_t i = 0; i < of.batch; ++i) {
      a.push_back(of.a.data() + i * of.stride_a);
      b.push_back(of.b.data() + i * of.stride_b);
      c.push_back(of.c.data() + i * of.stride_c);
    }
  }
};

// Counts calls of the made-up warpladder and of one function of the made-up cuBLAS from its making.
class Counts {
 public:
  explicit Counts(const char* function)
      : function_(function),
        ours_(made_up::gpu().products),
        theirs_(made_up_cublas_calls(function)) {}
  int ours() const { return made_up::gpu().products - ours_; }
  int theirs() const { return made_up_cublas_calls(function_) - theirs_; }

 private:
  const char* function_;
  int ours_, theirs_;
};
#define EXPECT_TAKEN(counts)     \
  EXPECT_EQ((counts).ours(), 1); \
  EXPECT_EQ((counts).theirs(), 0)
#define EXPECT_PASSED_ON(counts) \
  EXPECT_EQ((counts).ours(), 0); \
  EXPECT_EQ((counts).theirs(), 1)

// Each test has a GPU of its own kind and a cuBLAS handle.
class Shim : public testing::Test {
 protected:
  void SetUp() override {
    const std::uint64_t context = made_up::gpu().context;
    made_up::end_graphs();
    made_up::gpu() = {};
    made_up::gpu().context = context;
    made_up_cublas_use_lt(0);
    made_up_cublas_fault(0);
    ASSERT_EQ(cublasCreate_v2(&handle), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override { cublasDestroy_v2(handle); }

  // One FP32 product, as most programs ask for it.
  cublasStatus_t product(Case& p) const {
    return cublasSgemm_v2(handle, p.op_a, p.op_b, static_cast<int>(p.m), static_cast<int>(p.n),
                          static_cast<int>(p.k), &p.alpha, p.a.data(), static_cast<int>(p.lda),
                          p.b.data(), static_cast<int>(p.ldb), &p.beta, p.c.data(),
                          static_cast<int>(p.ldc));
  }
  void expect_passed_on() const {
    Case p;
    p.make();
    const Counts counts("cublasSgemm_v2");
    EXPECT_EQ(product(p), CUBLAS_STATUS_SUCCESS);
    EXPECT_PASSED_ON(counts);
    p.expect_right();
  }
  void expect_taken() const {
    Case p;
    p.make();
    const Counts counts("cublasSgemm_v2");
    EXPECT_EQ(product(p), CUBLAS_STATUS_SUCCESS);
    EXPECT_TAKEN(counts);
    p.expect_right();
  }

  cublasHandle_t handle = nullptr;
};

inline cudaStream_t stream_number(std::uintptr_t number) {
  return reinterpret_cast<cudaStream_t>(number * 0x100);
}

}  // namespace shim_tests
