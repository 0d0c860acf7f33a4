// cublasLtMatmul(): layouts, epilogues, and what is passed on.

#include <cublasLt.h>

#include <functional>
#include <ostream>

#include "matrices.hpp"

namespace shim_tests {
namespace {

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
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }
class Taken : public Lt, public testing::WithParamInterface<Variant> {};
TEST_P(Taken, IsRight) {
  LtCase p;
  GetParam().change(p);
  expect(p, true);
}
INSTANTIATE_TEST_SUITE_P(
    LtMatmul, Taken,
    testing::Values(
        Variant{"Plain", [](LtCase&) {}},  //
        Variant{"BetaZero", [](LtCase& p) { p.beta = 0; }},
        Variant{"OtherC", [](LtCase& p) { p.in_place = false; }},
        Variant{"OtherCAndBetaZero", [](LtCase& p) { p.in_place = false, p.beta = 0; }},
        Variant{"Turned", [](LtCase& p) { p.op_a = CUBLAS_OP_N, p.op_b = CUBLAS_OP_T; }},
        Variant{"AByRows", [](LtCase& p) { p.rows_a = true; }},
        Variant{"BByRows", [](LtCase& p) { p.rows_b = true, p.op_b = CUBLAS_OP_T; }},
        Variant{"DByRows", [](LtCase& p) { p.rows_d = true; }},
        Variant{"AllByRows", [](LtCase& p) { p.rows_a = p.rows_b = p.rows_d = true; }},
        Variant{"OtherCByRows", [](LtCase& p) { p.rows_d = true, p.in_place = false; }},
        Variant{"Batch", [](LtCase& p) { p.batch = 3; }},
        Variant{"BatchOtherC", [](LtCase& p) { p.batch = 3, p.in_place = false; }},
        Variant{"BatchSharedB", [](LtCase& p) { p.batch = 3, p.shares_b = true; }},
        Variant{"Bias", [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_BIAS; }},
        Variant{"Relu", [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_RELU; }},
        Variant{"ReluBias", [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS; }},
        Variant{"Gelu", [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_GELU; }},
        Variant{"GeluBias", [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_GELU_BIAS; }},
        Variant{"BiasBatch", [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_BIAS, p.batch = 2; }},
        Variant{"BiasOtherC",
                [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_BIAS, p.in_place = false; }},
        Variant{"BiasOfWholeVectors",
                [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_GELU_BIAS, p.m = 8, p.gap = 4; }}),
    [](const auto& test) { return test.param.name; });

class PassedOn : public Lt, public testing::WithParamInterface<Variant> {};
TEST_P(PassedOn, IsCublas) {
  LtCase p;
  GetParam().change(p);
  expect(p, false);
}
INSTANTIATE_TEST_SUITE_P(
    LtMatmul, PassedOn,
    testing::Values(Variant{"ReluAux", [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_RELU_AUX; }},
                    Variant{
                        "BiasByRows",
                        [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_BIAS, p.rows_d = true; }}),
    [](const auto& test) { return test.param.name; });

TEST_F(Lt, OtherAttributesArePassedOn) {
  const LtCase p;
  make(p);
  expect_made(p, true);
  const float one = 1;
  const struct {
    cublasLtMatmulDescAttributes_t which;
    std::int64_t value, usual;
    std::size_t bytes;
  } attributes[] = {
      {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F, 4},
      {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_32F, 4},
      {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 78, CUBLAS_COMPUTE_32F, 4},
      {CUBLASLT_MATMUL_DESC_SCALE_TYPE, CUDA_R_16F, CUDA_R_32F, 4},
      {CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE, 0, 4},
      {CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE_VECTOR, 0, 4},
      {CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 8, 0, 4},
      {CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_FULL, 4},
      {CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, reinterpret_cast<std::intptr_t>(&one), 0, 8},
      {CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, reinterpret_cast<std::intptr_t>(&one), 0, 8},
  };
  for (const auto& [which, value, usual, bytes] : attributes) {
    SCOPED_TRACE(testing::Message() << which << ' ' << value);
    cublasLtMatmulDescSetAttribute(operation, which, &value, bytes);
    expect_made(p, false);
    cublasLtMatmulDescSetAttribute(operation, which, &usual, bytes);
  }
  for (int matrix = 0; matrix < 4; ++matrix) {
    set(matrix, CUBLASLT_MATRIX_LAYOUT_TYPE, static_cast<std::uint32_t>(CUDA_R_16F));
    expect_made(p, false);
    set(matrix, CUBLASLT_MATRIX_LAYOUT_TYPE, static_cast<std::uint32_t>(CUDA_R_32F));
    // Of a newer cuBLAS: arrays of pointers.
    set(matrix, static_cast<cublasLtMatrixLayoutAttribute_t>(8), std::uint32_t{1});
    expect_made(p, false);
    set(matrix, static_cast<cublasLtMatrixLayoutAttribute_t>(8), std::uint32_t{0});
  }
  expect_made(p, true);
}

TEST_F(Lt, PedanticArithmeticIsThatOfFp32MultiplyAdds) {
  set(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, static_cast<std::int32_t>(CUBLAS_COMPUTE_32F_PEDANTIC));
  expect({}, true);
  EXPECT_EQ(made_up::gpu().last_arithmetic, 1);
}

TEST_F(Lt, WrongSizesAreForCublasToJudge) {
  make({});
  set(1, CUBLASLT_MATRIX_LAYOUT_ROWS, std::uint64_t{3});
  const int theirs = made_up_cublaslt_calls();
  EXPECT_EQ(call({}), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(made_up_cublaslt_calls(), theirs + 1);
}

TEST_F(Lt, ARefusedCallIsPassedOnWhole) {
  LtCase p;
  p.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  p.in_place = false;
  made_up::gpu().next_status = 4;
  expect(p, false);
}

}  // namespace
}  // namespace shim_tests
