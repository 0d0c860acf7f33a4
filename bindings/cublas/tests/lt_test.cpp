// cublasLtMatmul(): layouts, epilogues, and what is passed on.

#include <sys/mman.h>
#include <unistd.h>

#include "lt_matrices.hpp"

namespace shim_tests {
namespace {

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

// A program that was built with an older cuBLAS has descriptors of its own that are shorter.
TEST_F(Lt, ReadsNothingBehindAShortDescriptor) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const pages =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  char* const end = static_cast<char*>(pages) + page;
  ASSERT_EQ(mprotect(end, page, PROT_NONE), 0);
  cublasLtMatmulDesc_t const whole = operation;
  for (const std::size_t bytes : {96, 104}) {
    operation = reinterpret_cast<cublasLtMatmulDesc_t>(end - bytes);
    ASSERT_EQ(cublasLtMatmulDescInit_internal(operation, bytes, CUBLAS_COMPUTE_32F, CUDA_R_32F),
              CUBLAS_STATUS_SUCCESS);
    const int before = made_up_cublaslt_questions();
    LtCase p;
    p.epilogue = CUBLASLT_EPILOGUE_BIAS;
    expect(p, true);
    EXPECT_GT(made_up_cublaslt_questions(), before + 10);
    for (auto& layout : layouts) {
      cublasLtMatrixLayoutDestroy(layout);
      layout = nullptr;
    }
  }
  operation = whole;
  munmap(pages, 2 * page);
}

TEST_F(Lt, AsksNothingThatDescriptorsTell) {
  const LtCase p;
  expect(p, true);
  const int before = made_up_cublaslt_questions();
  for (const auto op : {CUBLAS_OP_C, CUBLAS_OP_T}) {  // at the same address
    set(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(op));
    expect_made(p, true);
  }
  EXPECT_EQ(made_up_cublaslt_questions(), before + 4) << "of attributes that there are not";
}

TEST_F(Lt, CAndDMayShareALayout) {
  LtCase p;
  p.in_place = false;
  p.batch = 2;
  make(p);
  cublasLtMatrixLayoutDestroy(layouts[3]);
  layouts[3] = layouts[2];
  ld[3] = ld[2];
  stride[3] = stride[2];
  data[3] = std::vector<float>(data[2].size());
  expect_made(p, true);
  layouts[3] = nullptr;
}

TEST_F(Lt, CByRowsBesideDByColumnsIsPassedOn) {
  LtCase p;
  p.in_place = false;
  p.m = p.n;
  make(p);
  set(2, CUBLASLT_MATRIX_LAYOUT_ORDER, static_cast<std::int32_t>(CUBLASLT_ORDER_ROW));
  const int ours = made_up::gpu().products, theirs = made_up_cublaslt_calls();
  EXPECT_EQ(call(p), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(made_up::gpu().products, ours);
  EXPECT_EQ(made_up_cublaslt_calls(), theirs + 1);
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
