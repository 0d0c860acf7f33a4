// WARPLADDER_CUBLAS=verify for cublasLtMatmul(): layouts, batches and epilogues.

#include <tuple>

#include "compared.hpp"
#include "lt_matrices.hpp"

namespace shim_tests {
namespace {

class VerifyLt : public Lt, public testing::WithParamInterface<Variant> {};

TEST_P(VerifyLt, IsCompared) {
  LtCase p;
  GetParam().change(p);
  make(p);
  // Activations hide no fault in elements that are positive.
  for (const int operand : {0, 1}) {
    for (float& x : data[operand]) x = std::abs(x);
  }
  for (float& x : bias) x += 10;
  const auto before = data[2];
  const int theirs = made_up_cublaslt_calls();
  expect_compared({[&] {
                     data[2] = before;
                     EXPECT_EQ(call(p), CUBLAS_STATUS_SUCCESS);
                   },
                   [&] { expect_right(p, before); }, data[p.in_place ? 2 : 3].data(),
                   static_cast<int>(p.batch)});
  EXPECT_EQ(made_up_cublaslt_calls(), theirs + 4);
}

void by_rows(LtCase& p) { p.rows_a = p.rows_b = p.rows_d = true; }
INSTANTIATE_TEST_SUITE_P(
    LtMatmul, VerifyLt,
    testing::Values(
        Variant{"Plain", [](LtCase&) {}},                                                //
        Variant{"BetaZero", [](LtCase& p) { p.beta = 0; }}, Variant{"ByRows", by_rows},  //
        Variant{"ByRowsBetaZero", [](LtCase& p) { by_rows(p), p.beta = 0; }},
        Variant{"ByRowsTurned",
                [](LtCase& p) { by_rows(p), p.op_a = CUBLAS_OP_N, p.op_b = CUBLAS_OP_T; }},
        Variant{"AByRows", [](LtCase& p) { p.rows_a = true; }},
        Variant{"DByRows", [](LtCase& p) { p.rows_d = true; }},
        Variant{"ByRowsOtherC", [](LtCase& p) { by_rows(p), p.in_place = false; }},
        Variant{"Batch", [](LtCase& p) { p.batch = 3; }},
        Variant{"BatchByRows", [](LtCase& p) { by_rows(p), p.batch = 3; }},
        Variant{"BatchOtherC", [](LtCase& p) { p.batch = 3, p.in_place = false; }},
        Variant{"BatchSharedB", [](LtCase& p) { p.batch = 3, p.shares_b = true; }},
        Variant{"BatchBias", [](LtCase& p) { p.batch = 2, p.epilogue = CUBLASLT_EPILOGUE_BIAS; }},
        Variant{"Bias", [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_BIAS; }},
        Variant{"ReluBiasOtherC",
                [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS, p.in_place = false; }},
        Variant{"Gelu", [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_GELU; }},
        Variant{"GeluBias", [](LtCase& p) { p.epilogue = CUBLASLT_EPILOGUE_GELU_BIAS; }},
        Variant{"BatchGeluBias",
                [](LtCase& p) { p.batch = 2, p.epilogue = CUBLASLT_EPILOGUE_GELU_BIAS; }}),
    [](const auto& test) { return test.param.name; });

// Whether a fault of this size is told, of the product that was made.
class LtBound : public Lt {
 protected:
  bool is_told(const LtCase& p, made_up::Fault fault, float size) {
    made_up::gpu().fault = fault;
    made_up::gpu().fault_size = size;
    testing::internal::CaptureStderr();
    EXPECT_EQ(call(p), CUBLAS_STATUS_SUCCESS);
    return testing::internal::GetCapturedStderr().find("DIFFERS") != std::string::npos;
  }
};

TEST_F(LtBound, OfGeluAllowsForTwoFormulas) {
  for (const auto epilogue : {CUBLASLT_EPILOGUE_GELU_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS}) {
    LtCase p;
    p.epilogue = epilogue;
    make(p);
    for (float& x : bias) x += 10;
    EXPECT_EQ(is_told(p, made_up::Fault::first, 0x1p-10f), epilogue == CUBLASLT_EPILOGUE_RELU_BIAS);
    EXPECT_TRUE(is_told(p, made_up::Fault::first, 1));
  }
}

TEST_F(LtBound, IsOfTheRowsBias) {
  using made_up::Fault;
  for (const auto& [fault, its_row, large] : {std::tuple{Fault::first, 0, 0},
                                              {Fault::first, 0, 1},
                                              {Fault::last, 5, 5},
                                              {Fault::last, 5, 4}}) {
    LtCase p;
    p.epilogue = CUBLASLT_EPILOGUE_BIAS;
    make(p);
    bias[static_cast<std::size_t>(large)] = 8e6f;
    EXPECT_EQ(is_told(p, fault, 1), large != its_row) << its_row << ' ' << large;
  }
}

}  // namespace
}  // namespace shim_tests
