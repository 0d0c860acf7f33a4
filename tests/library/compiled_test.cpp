// Epilogues and reductions that the caller wrote: values, on a GPU.

#include <algorithm>
#include <cmath>
#include <functional>

#include "library/testing.hpp"

namespace warpladder::library_tests {
namespace {

class Compiled : public WithHandle {
 protected:
  void SetUp() override {
    WithHandle::SetUp();
    if (IsSkipped()) return;
    const warpladder_status status = warpladder_epilogue_create(handle_, "x", &as_it_is_);
    if (status == WARPLADDER_NO_COMPILER) GTEST_SKIP() << warpladder_last_error();
    ASSERT_EQ(status, WARPLADDER_SUCCESS) << warpladder_last_error();
  }
  void TearDown() override {
    if (handle_) {
      EXPECT_SUCCEEDS(warpladder_epilogue_destroy(handle_, as_it_is_));
    }
    WithHandle::TearDown();
  }
  warpladder_epilogue as_it_is_ = nullptr;
};

struct Product {
  std::int64_t m, n, k;
  warpladder_layout layout;
  bool trans_a, trans_b;
  float alpha, beta;
  std::int64_t spare;  // of each leading dimension
};

// Element (i, j) of a stored matrix.
std::size_t place(const Product& p, std::int64_t i, std::int64_t j, std::int64_t ld) {
  return static_cast<std::size_t>(p.layout == WARPLADDER_ROW_MAJOR ? i * ld + j : i + j * ld);
}

void check_product(warpladder_handle handle, const Product& p, const char* expression,
                   const std::function<double(double)>& meaning) {
  const bool rows = p.layout == WARPLADDER_ROW_MAJOR;
  const std::int64_t a_rows = p.trans_a ? p.k : p.m, a_columns = p.trans_a ? p.m : p.k,
                     b_rows = p.trans_b ? p.n : p.k, b_columns = p.trans_b ? p.k : p.n;
  const auto ld_of = [&](std::int64_t r, std::int64_t c) {
    return std::max<std::int64_t>(1, rows ? c : r) + p.spare;
  };
  const std::int64_t lda = ld_of(a_rows, a_columns), ldb = ld_of(b_rows, b_columns),
                     ldc = ld_of(p.m, p.n);
  const auto count = [&](std::int64_t r, std::int64_t c, std::int64_t ld) {
    return static_cast<std::size_t>((rows ? r : c) * ld);
  };
  const std::vector<float> a = random_floats(count(a_rows, a_columns, lda), 1),
                           b = random_floats(count(b_rows, b_columns, ldb), 2),
                           c = random_floats(count(p.m, p.n, ldc), 3);
  const DeviceArray<float> da(a), db(b), dc(c);
  warpladder_epilogue epilogue = nullptr;
  ASSERT_SUCCEEDS(warpladder_epilogue_create(handle, expression, &epilogue));
  ASSERT_SUCCEEDS(warpladder_sgemm_epilogue(
      handle, p.layout, p.trans_a ? WARPLADDER_OP_T : WARPLADDER_OP_N,
      p.trans_b ? WARPLADDER_OP_T : WARPLADDER_OP_N, p.m, p.n, p.k, p.alpha, da.data(), lda,
      db.data(), ldb, p.beta, dc.data(), ldc, epilogue, nullptr));
  const std::vector<float> got = dc.download();
  EXPECT_SUCCEEDS(warpladder_epilogue_destroy(handle, epilogue));
  std::vector<float> wanted = c;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < p.k; ++l) {
        sum += double{a[p.trans_a ? place(p, l, i, lda) : place(p, i, l, lda)]} *
               double{b[p.trans_b ? place(p, j, l, ldb) : place(p, l, j, ldb)]};
      }
      const std::size_t at = place(p, i, j, ldc);
      wanted[at] = static_cast<float>(meaning(p.alpha * sum + p.beta * double{c[at]}));
    }
  }
  const double bound = 1e-6 * static_cast<double>(p.k + 4);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    wrong += !(std::fabs(double{got[i]} - double{wanted[i]}) <= bound);
  }
  EXPECT_EQ(wrong, 0u) << p.m << "x" << p.n << "x" << p.k << " " << expression;
}

TEST_F(Compiled, EpiloguesOfProducts) {
  const auto leaky = [](double x) { return x > 0 ? x : 0.1 * x; };
  for (const warpladder_arithmetic arithmetic :
       {WARPLADDER_ARITHMETIC_ACCURATE, WARPLADDER_ARITHMETIC_CUDA_CORES}) {
    ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle_, arithmetic));
    for (const Product& p : {Product{1, 1, 1, WARPLADDER_ROW_MAJOR, false, false, 1, 0, 0},
                             {3, 1, 5, WARPLADDER_ROW_MAJOR, false, false, 1, 0, 0},
                             {70, 90, 33, WARPLADDER_ROW_MAJOR, false, false, 2, 0.5f, 3},
                             {64, 48, 20, WARPLADDER_COLUMN_MAJOR, true, false, -1, 1, 4},
                             {300, 260, 40, WARPLADDER_COLUMN_MAJOR, false, true, 1, 0, 0},
                             {256, 384, 72, WARPLADDER_ROW_MAJOR, true, true, 1, 1, 4},
                             {20, 20, 0, WARPLADDER_ROW_MAJOR, false, false, 1, 0.5f, 0},
                             {20, 24, 9, WARPLADDER_ROW_MAJOR, false, false, 0, 0.5f, 0}}) {
      check_product(handle_, p, "x > 0 ? x : 0.1f*x", leaky);
    }
  }
  // Large enough on CUDA cores for one launch of the tiled kernel, which takes the epilogue itself.
  const Product large{1536, 1664, 32, WARPLADDER_ROW_MAJOR, false, false, 1, 0, 0};
  check_product(handle_, large, "x > 0 ? x : 0.1f*x", leaky);
  check_product(handle_, {1535, 1667, 33, WARPLADDER_COLUMN_MAJOR, true, false, 1, 0.5f, 1},
                "fmaxf(x, -0.5f)", [](double x) { return std::fmax(x, -0.5); });
}

// For compute-sanitizer, which takes long over large ones.
TEST_F(Compiled, SmallProduct) {
  ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle_, WARPLADDER_ARITHMETIC_CUDA_CORES));
  check_product(handle_, {70, 90, 33, WARPLADDER_ROW_MAJOR, false, false, 2, 0.5f, 3}, "fabsf(x)",
                [](double x) { return std::fabs(x); });
}

TEST_F(Compiled, Reductions) {
  for (const std::int64_t n : {0, 1, 31, 256, 1025, 100003, 5000000}) {
    const std::vector<float> x = random_floats(static_cast<std::size_t>(n), 7);
    const DeviceArray<float> dx(x), result(std::vector<float>{7, 7});
    warpladder_binary_op greatest = nullptr, sum = nullptr;
    ASSERT_SUCCEEDS(warpladder_binary_op_create(handle_, "a > b ? a : b", -INFINITY, &greatest));
    ASSERT_SUCCEEDS(warpladder_binary_op_create(handle_, "a + b", 0, &sum));
    ASSERT_SUCCEEDS(
        warpladder_reduce_with(handle_, greatest, n, dx.data(), result.data(), nullptr));
    ASSERT_SUCCEEDS(warpladder_reduce_with(handle_, sum, n, dx.data(), result.data() + 1, nullptr));
    const std::vector<float> got = result.download();
    float most = -INFINITY;
    double all = 0, absolute = 0;
    for (const float value : x) {
      most = std::fmax(most, value);
      all += double{value};
      absolute += std::fabs(double{value});
    }
    EXPECT_EQ(got[0], most);
    EXPECT_LE(std::fabs(double{got[1]} - all), 40 * 0x1p-24 * absolute) << n;
    EXPECT_SUCCEEDS(warpladder_binary_op_destroy(handle_, greatest));
    EXPECT_SUCCEEDS(warpladder_binary_op_destroy(handle_, sum));
  }
}

TEST_F(Compiled, BadExpressionsGiveTheCompilersLine) {
  warpladder_epilogue epilogue = as_it_is_;
  EXPECT_EQ(warpladder_epilogue_create(handle_, "y + 1", &epilogue), WARPLADDER_INVALID_ARGUMENT);
  EXPECT_STREQ(warpladder_last_error(),
               "epilogue_create: the compiler says: identifier \"y\" is undefined");
  EXPECT_EQ(epilogue, nullptr);
  EXPECT_EQ(warpladder_epilogue_create(handle_, "x; x", &epilogue), WARPLADDER_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace warpladder::library_tests
