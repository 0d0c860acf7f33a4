#pragma once
// Operands and descriptors of cublasLtMatmul(), and the truth, element by element, in float64.

#include <cublasLt.h>

#include <algorithm>
#include <functional>
#include <ostream>

#include "matrices.hpp"

namespace shim_tests {

struct LtCase {
  cublasOperation_t op_a = CUBLAS_OP_T, op_b = CUBLAS_OP_N;
  std::int64_t m = 6, n = 5, k = 4, batch = 1;
  bool rows_a = false, rows_b = false, rows_d = false;  // stored by rows
  bool in_place = true;
  float alpha = 1.5f, beta = 0.75f;
  int epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::int64_t gap = 1;   // of leading dimensions
  bool shares_b = false;  // all matrices of the batch
};

class Lt : public Shim {
 protected:
  void SetUp() override {
    Shim::SetUp();
    cublasLtCreate(&lt_);
    cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  }
  void TearDown() override {
    for (const auto layout : layouts) {
      if (layout) cublasLtMatrixLayoutDestroy(layout);
    }
    cublasLtMatmulDescDestroy(operation);
    Shim::TearDown();
  }
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t which, Value value) const {
    cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof value);
  }
  template <class Value>
  void set(int matrix, cublasLtMatrixLayoutAttribute_t which, Value value) const {
    cublasLtMatrixLayoutSetAttribute(layouts[matrix], which, &value, sizeof value);
  }

  void make(const LtCase& p) {
    set(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(p.op_a));
    set(CUBLASLT_MATMUL_DESC_TRANSB, static_cast<std::int32_t>(p.op_b));
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::int32_t>(p.epilogue));
    const struct {
      std::int64_t rows, columns;
      bool by_rows;
    } shapes[] = {{turns(p.op_a) ? p.k : p.m, turns(p.op_a) ? p.m : p.k, p.rows_a},
                  {turns(p.op_b) ? p.n : p.k, turns(p.op_b) ? p.k : p.n, p.rows_b},
                  {p.m, p.n, p.rows_d},
                  {p.m, p.n, p.rows_d}};
    for (int i = 0; i < 4; ++i) {
      const auto& [rows, columns, by_rows] = shapes[i];
      const bool is_copy = i == 3 && p.in_place;
      ld[i] = (by_rows ? columns : rows) + p.gap * (is_copy ? 3 : i + 1);
      stride[i] = ld[i] * (by_rows ? rows : columns) + 4;
      if (is_copy) stride[i] = stride[2];
      if (i == 1 && p.shares_b) stride[i] = 0;
      cublasLtMatrixLayoutCreate(&layouts[i], CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                 static_cast<std::uint64_t>(columns), ld[i]);
      set(i, CUBLASLT_MATRIX_LAYOUT_ORDER,
          static_cast<std::int32_t>(by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL));
      set(i, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(p.batch));
      set(i, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride[i]);
      const std::int64_t lines = by_rows ? rows : columns;
      data[i] = numbers((ld[i] * lines + 4) * p.batch, static_cast<unsigned>(i + 1));
    }
    if (p.beta == 0) std::fill(data[2].begin(), data[2].end(), kNaN);
    bias = numbers(p.m, 9);
    if (p.epilogue & CUBLASLT_EPILOGUE_BIAS) {
      set<const void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.data());
    }
  }

  cublasStatus_t call(const LtCase& p) {
    float* const out = p.in_place ? data[2].data() : data[3].data();
    return cublasLtMatmul(lt_, operation, &p.alpha, data[0].data(), layouts[0], data[1].data(),
                          layouts[1], &p.beta, data[2].data(), layouts[2], out, layouts[3], nullptr,
                          nullptr, 0, stream_number(5));
  }

  double at(int matrix, bool by_rows, std::int64_t i, std::int64_t j, std::int64_t which) const {
    const std::int64_t place =
        which * stride[matrix] + (by_rows ? i * ld[matrix] + j : i + j * ld[matrix]);
    return data[matrix][static_cast<std::size_t>(place)];
  }
  double truth(const LtCase& p, const std::vector<float>& before, std::int64_t i, std::int64_t j,
               std::int64_t which) const {
    double sum = 0;
    for (std::int64_t t = 0; t < p.k; ++t) {
      sum += (turns(p.op_a) ? at(0, p.rows_a, t, i, which) : at(0, p.rows_a, i, t, which)) *
             (turns(p.op_b) ? at(1, p.rows_b, j, t, which) : at(1, p.rows_b, t, j, which));
    }
    const std::int64_t place = which * stride[2] + (p.rows_d ? i * ld[2] + j : i + j * ld[2]);
    double x = p.alpha * sum +
               (p.beta == 0 ? 0 : p.beta * double{before[static_cast<std::size_t>(place)]});
    if (p.epilogue & CUBLASLT_EPILOGUE_BIAS) x += bias[static_cast<std::size_t>(i)];
    if (p.epilogue & CUBLASLT_EPILOGUE_RELU) return x < 0 ? 0 : x;
    if (p.epilogue & CUBLASLT_EPILOGUE_GELU) {
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    }
    return x;
  }

  void expect(const LtCase& p, bool is_taken) {
    make(p);
    expect_made(p, is_taken);
  }
  void expect_made(const LtCase& p, bool is_taken) {
    const auto before = data[2];
    const int ours = made_up::gpu().products, theirs = made_up_cublaslt_calls();
    EXPECT_EQ(call(p), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(made_up::gpu().products - ours, is_taken ? 1 : 0);
    EXPECT_EQ(made_up_cublaslt_calls() - theirs, is_taken ? 0 : 1);
    if (is_taken) {
      EXPECT_EQ(made_up::gpu().last_stream, stream_number(5));
    }
    expect_right(p, before);
  }
  // D is right, and C, where it is another matrix, as it was `before`.
  void expect_right(const LtCase& p, const std::vector<float>& before) const {
    const int out = p.in_place ? 2 : 3;
    for (std::int64_t which = 0; which < p.batch; ++which) {
      for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t j = 0; j < p.n; ++j) {
          EXPECT_NEAR(at(out, p.rows_d, i, j, which), truth(p, before, i, j, which), 2e-5)
              << i << ' ' << j << ' ' << which;
        }
      }
    }
    if (!p.in_place) {
      EXPECT_TRUE(std::equal(before.begin(), before.end(), data[2].begin(),
                             [](float x, float y) { return x == y || (x != x && y != y); }));
    }
  }

  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layouts[4] = {};
  std::int64_t ld[4] = {}, stride[4] = {};
  std::vector<float> data[4], bias;

 private:
  cublasLtHandle_t lt_ = nullptr;
};

// Name, and what it changes of the usual call.
struct Variant {
  const char* name;
  std::function<void(LtCase&)> change;
};
inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

}  // namespace shim_tests
