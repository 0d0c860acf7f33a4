// WARPLADDER_CUBLAS=verify for every kind of call but cublasLt's: both compute, cuBLAS's result is
// handed over, and a planted fault is told.

#include <cublas.h>

#include "compared.hpp"

namespace shim_tests {
namespace {

using Verify = Shim;

constexpr cublasOperation_t kOps[] = {CUBLAS_OP_N, CUBLAS_OP_T};

Case case_of(cublasOperation_t op_a, cublasOperation_t op_b, float beta, std::int64_t batch = 1) {
  Case p;
  p.op_a = op_a;
  p.op_b = op_b;
  p.beta = beta;
  p.batch = batch;
  p.make();
  return p;
}

TEST_F(Verify, Products) {
  for (const auto op_a : kOps) {
    for (const auto op_b : kOps) {
      for (const float beta : {0.0f, -0.5f}) {
        Case p = case_of(op_a, op_b, beta);
        expect_product_compared(p, "cublasSgemm_v2", [&] { return product(p); });
      }
    }
  }
}

TEST_F(Verify, Batches) {
  for (const float beta : {0.0f, 2.0f}) {
    Case p = case_of(CUBLAS_OP_T, CUBLAS_OP_N, beta, 3);
    Pointers to(p);
    expect_product_compared(p, "cublasSgemmStridedBatched_64", [&] {
      return cublasSgemmStridedBatched_64(
          handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, p.a.data(), p.lda, p.stride_a,
          p.b.data(), p.ldb, p.stride_b, &p.beta, p.c.data(), p.ldc, p.stride_c, p.batch);
    });
    expect_product_compared(p, "cublasSgemmBatched_64", [&] {
      return cublasSgemmBatched_64(handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, to.a.data(),
                                   p.lda, to.b.data(), p.ldb, &p.beta, to.c.data(), p.ldc, p.batch);
    });
  }
}

// Zeros lie between the elements: from them a wrong walk would take norms of 0, and a bound of 0.
TEST_F(Verify, Vectors) {
  for (const auto op : kOps) {
    for (const int step : {1, 3, -2}) {
      const int m = 6, n = 4, terms = op == CUBLAS_OP_N ? n : m, rows = op == CUBLAS_OP_N ? m : n;
      const auto a = numbers(m * n, 1);
      std::vector<float> x(static_cast<std::size_t>(terms * 3), 0.0f), y(x.size() * 3, 0.0f);
      for (int i = 0; i < terms; ++i) {
        x[static_cast<std::size_t>(i * std::abs(step))] = static_cast<float>(i + 1);
      }
      const float alpha = 1 / 3.0f, beta = 0.25f;
      const auto at = static_cast<std::size_t>(step < 0 ? (1 - rows) * step : 0);
      expect_compared({[&] {
                         std::fill(y.begin(), y.end(), 1.0f);
                         EXPECT_EQ(cublasSgemv_v2(handle, op, m, n, &alpha, a.data(), m, x.data(),
                                                  step, &beta, y.data(), step),
                                   CUBLAS_STATUS_SUCCESS);
                       },
                       [&] { EXPECT_NE(y[at], 1.0f); }, &y[at]});
    }
  }
}

TEST_F(Verify, ProductsOfAnyType) {
  constexpr auto kFp32 = CUDA_R_32F;
  Case p;
  p.op_a = CUBLAS_OP_T;
  p.make();
  expect_product_compared(p, "cublasSgemmEx_64", [&] {
    return cublasSgemmEx_64(handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, p.a.data(), kFp32,
                            p.lda, p.b.data(), kFp32, p.ldb, &p.beta, p.c.data(), kFp32, p.ldc);
  });
  for (const auto compute : {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_PEDANTIC}) {
    expect_product_compared(p, "cublasGemmEx_64", [&] {
      return cublasGemmEx_64(handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, p.a.data(), kFp32,
                             p.lda, p.b.data(), kFp32, p.ldb, &p.beta, p.c.data(), kFp32, p.ldc,
                             compute, CUBLAS_GEMM_DEFAULT);
    });
  }
}

TEST_F(Verify, BatchesOfAnyType) {
  constexpr auto kFp32 = CUDA_R_32F;
  for (const float beta : {0.0f, 2.0f}) {
    Case p = case_of(CUBLAS_OP_N, CUBLAS_OP_T, beta, 3);
    Pointers to(p);
    expect_product_compared(p, "cublasGemmStridedBatchedEx_64", [&] {
      return cublasGemmStridedBatchedEx_64(
          handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, p.a.data(), kFp32, p.lda, p.stride_a,
          p.b.data(), kFp32, p.ldb, p.stride_b, &p.beta, p.c.data(), kFp32, p.ldc, p.stride_c,
          p.batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    });
    expect_product_compared(p, "cublasGemmBatchedEx_64", [&] {
      return cublasGemmBatchedEx_64(handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha,
                                    reinterpret_cast<const void* const*>(to.a.data()), kFp32, p.lda,
                                    reinterpret_cast<const void* const*>(to.b.data()), kFp32, p.ldb,
                                    &p.beta, reinterpret_cast<void* const*>(to.c.data()), kFp32,
                                    p.ldc, p.batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    });
  }
}

TEST_F(Verify, CallsWithoutHandle) {
  for (const float beta : {0.0f, -0.5f}) {
    Case p = case_of(CUBLAS_OP_T, CUBLAS_OP_N, beta);
    const auto size = [](std::int64_t value) { return static_cast<int>(value); };
    expect_product_compared(p, "cublasSgemm", [&] {
      cublasSgemm('T', 'n', size(p.m), size(p.n), size(p.k), p.alpha, p.a.data(), size(p.lda),
                  p.b.data(), size(p.ldb), p.beta, p.c.data(), size(p.ldc));
      return CUBLAS_STATUS_SUCCESS;
    });
  }
  const auto a = numbers(6 * 4, 1), x = numbers(2 * 6, 2), before = numbers(3 * 4, 3);
  auto y = before;
  const int theirs = made_up_cublas_calls("cublasSgemv");
  expect_compared({[&] {
                     y = before;
                     cublasSgemv('t', 6, 4, 2.0f, a.data(), 6, x.data(), 2, 0.25f, y.data(), -3);
                   },
                   [&] {
                     for (std::size_t i = 0; i < 4; ++i) {
                       double sum = 0;
                       for (std::size_t t = 0; t < 6; ++t) sum += double{a[t + 6 * i]} * x[2 * t];
                       EXPECT_NEAR(y[9 - 3 * i], 2 * sum + 0.25 * before[9 - 3 * i], 1e-5);
                     }
                   },
                   &y[9]});
  EXPECT_EQ(made_up_cublas_calls("cublasSgemv"), theirs + 4);
}

// The bound of an element is that of its own row, column, C and bias.
class Bound : public Shim {
 protected:
  // Whether a fault of 1 in the first element is told.
  bool is_told(Case& p) const {
    made_up::gpu().fault = made_up::Fault::first;
    testing::internal::CaptureStderr();
    EXPECT_EQ(product(p), CUBLAS_STATUS_SUCCESS);
    made_up::gpu().fault = made_up::Fault::none;
    return testing::internal::GetCapturedStderr().find("DIFFERS") != std::string::npos;
  }
};

TEST_F(Bound, IsOfTheColumn) {
  for (const auto op : kOps) {
    for (const bool large_first : {false, true}) {
      Case p = case_of(CUBLAS_OP_N, op, 0);
      for (std::int64_t t = 0; t < p.k; ++t) {
        for (std::int64_t j = 0; j < p.n; ++j) {
          const std::int64_t place = op == CUBLAS_OP_N ? t + j * p.ldb : j + t * p.ldb;
          p.b[static_cast<std::size_t>(place)] = (j == 0) == large_first ? 1e7f : 1.0f;
        }
      }
      EXPECT_EQ(is_told(p), !large_first);
    }
  }
}

TEST_F(Bound, IsOfTheRow) {
  for (const auto op : kOps) {
    for (const bool large_first : {false, true}) {
      Case p = case_of(op, CUBLAS_OP_N, 0);
      for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t t = 0; t < p.k; ++t) {
          const std::int64_t place = op == CUBLAS_OP_N ? i + t * p.lda : t + i * p.lda;
          p.a[static_cast<std::size_t>(place)] = (i == 0) == large_first ? 1e7f : 1.0f;
        }
      }
      EXPECT_EQ(is_told(p), !large_first);
    }
  }
}

TEST_F(Bound, IsOfC) {
  for (const std::size_t large : {std::size_t{0}, std::size_t{1}}) {
    Case p;
    p.make();
    p.c[large] = 8e6f;
    EXPECT_EQ(is_told(p), large != 0);
  }
}

TEST_F(Verify, WithoutMemoryThereIsNoComparison) {
  made_up::gpu().has_memory = false;
  const int ours = made_up::gpu().products;
  expect_passed_on();
  EXPECT_EQ(made_up::gpu().products, ours);
}

TEST_F(Verify, ACapturedCallIsNotCompared) {
  made_up::Gpu& gpu = made_up::gpu();
  Case p;
  p.make();
  expect_product_compared(p, "cublasSgemm_v2", [&] { return product(p); });
  cublasSetStream_v2(handle, stream_number(4));
  gpu.captured = stream_number(4);
  const int ours = gpu.products, launches = gpu.launches;
  const Counts counts("cublasSgemm_v2");
  p.c = p.before;
  EXPECT_EQ(product(p), CUBLAS_STATUS_SUCCESS);
  EXPECT_PASSED_ON(counts);
  p.expect_right();
  EXPECT_EQ(gpu.products, ours);
  EXPECT_EQ(gpu.launches, launches);
}

TEST_F(Verify, ARefusalIsNoComparison) {
  for (const int status : {1, 9}) {
    made_up::gpu().next_status = status;
    expect_passed_on();
  }
}

}  // namespace
}  // namespace shim_tests
