// WARPLADDER_CUBLAS=verify for every kind of call: both compute, cuBLAS's result is handed over,
// and a planted fault is told.

#include <cublasLt.h>

#include <functional>
#include <string>

#include "matrices.hpp"

namespace shim_tests {
namespace {

class Verify : public Shim {
 protected:
  // `call` runs the product once. Its result must be cuBLAS's, with and without a fault in ours.
  void expect_compared(const std::function<void()>& call, int wrong) const {
    made_up::Gpu& gpu = made_up::gpu();
    for (const bool faulty : {false, true}) {
      gpu.faulty = faulty;
      const int ours = gpu.products;
      testing::internal::CaptureStderr();
      call();
      const std::string told = testing::internal::GetCapturedStderr();
      EXPECT_EQ(gpu.products, ours + 1);
      if (faulty) {
        EXPECT_NE(told.find("DIFFERS: " + std::to_string(wrong) + " elements"), std::string::npos)
            << told;
      } else {
        EXPECT_EQ(told.find("DIFFERS"), std::string::npos) << told;
      }
    }
    gpu.faulty = false;
    EXPECT_EQ(gpu.live_allocations, 0u);
  }
  void expect_product_compared(Case& p, const std::function<cublasStatus_t()>& call) const {
    expect_compared(
        [&] {
          p.c = p.before;
          EXPECT_EQ(call(), CUBLAS_STATUS_SUCCESS);
          p.expect_right();
        },
        static_cast<int>(p.batch));
  }
};

constexpr cublasOperation_t kOps[] = {CUBLAS_OP_N, CUBLAS_OP_T};

TEST_F(Verify, Products) {
  for (const auto op_a : kOps) {
    for (const auto op_b : kOps) {
      for (const float beta : {0.0f, -0.5f}) {
        Case p;
        p.op_a = op_a;
        p.op_b = op_b;
        p.beta = beta;
        p.make();
        expect_product_compared(p, [&] { return product(p); });
      }
    }
  }
}

TEST_F(Verify, Batches) {
  for (const float beta : {0.0f, 2.0f}) {
    Case p;
    p.op_a = CUBLAS_OP_T;
    p.batch = 3;
    p.beta = beta;
    p.make();
    Pointers to(p);
    expect_product_compared(p, [&] {
      return cublasSgemmStridedBatched_64(
          handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, p.a.data(), p.lda, p.stride_a,
          p.b.data(), p.ldb, p.stride_b, &p.beta, p.c.data(), p.ldc, p.stride_c, p.batch);
    });
    expect_product_compared(p, [&] {
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
      const int at = step < 0 ? (1 - rows) * step : 0;
      expect_compared(
          [&] {
            std::fill(y.begin(), y.end(), 1.0f);
            EXPECT_EQ(cublasSgemv_v2(handle, op, m, n, &alpha, a.data(), m, x.data(), step, &beta,
                                     y.data(), step),
                      CUBLAS_STATUS_SUCCESS);
            EXPECT_NE(y[static_cast<std::size_t>(at)], 1.0f);
          },
          1);
    }
  }
}

TEST_F(Verify, LtWithBiasAndAnotherC) {
  const int m = 6, n = 5, k = 4;
  const auto a = numbers(m * k, 1), b = numbers(k * n, 2), c = numbers(m * n, 3);
  const std::vector<float> bias(m, 10.0f);  // ReLU hides no fault
  std::vector<float> d(m * n);
  cublasLtHandle_t lt = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layouts[3] = {};
  cublasLtCreate(&lt);
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  const void* const pointer = bias.data();
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4);
  cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &pointer, 8);
  cublasLtMatrixLayoutCreate(&layouts[0], CUDA_R_32F, m, k, m);
  cublasLtMatrixLayoutCreate(&layouts[1], CUDA_R_32F, k, n, k);
  cublasLtMatrixLayoutCreate(&layouts[2], CUDA_R_32F, m, n, m);
  const float alpha = 1, beta = 2;
  expect_compared(
      [&] {
        const int theirs = made_up_cublaslt_calls();
        EXPECT_EQ(cublasLtMatmul(lt, operation, &alpha, a.data(), layouts[0], b.data(), layouts[1],
                                 &beta, c.data(), layouts[2], d.data(), layouts[2], nullptr,
                                 nullptr, 0, nullptr),
                  CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(made_up_cublaslt_calls(), theirs + 1);
      },
      1);
  EXPECT_EQ(c, numbers(m * n, 3));
  for (const auto layout : layouts) cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(operation);
}

// The bound of an element is that of its own row, column, C and bias.
class Bound : public Verify {
 protected:
  // Whether a fault of 1 in the first element is told.
  bool is_told(Case& p) const {
    made_up::gpu().faulty = true;
    testing::internal::CaptureStderr();
    EXPECT_EQ(product(p), CUBLAS_STATUS_SUCCESS);
    made_up::gpu().faulty = false;
    return testing::internal::GetCapturedStderr().find("DIFFERS") != std::string::npos;
  }
};

TEST_F(Bound, IsOfTheColumn) {
  for (const auto op : kOps) {
    for (const bool large_first : {false, true}) {
      Case p;
      p.op_b = op;
      p.beta = 0;
      p.make();
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
      Case p;
      p.op_a = op;
      p.beta = 0;
      p.make();
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

TEST_F(Verify, ACaptureIsNotWaitedFor) {
  cublasSetStream_v2(handle, stream_number(4));
  made_up::gpu().captured = stream_number(4);
  expect_passed_on();
}

TEST_F(Verify, ARefusalIsNoComparison) {
  for (const int status : {1, 9}) {
    made_up::gpu().next_status = status;
    expect_passed_on();
  }
}

}  // namespace
}  // namespace shim_tests
