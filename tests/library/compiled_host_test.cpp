// The library's host code for what callers wrote, beneath a made-up CUDA runtime and a made-up
// NVRTC.

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "library/made_up_cuda.hpp"
#include "library/taken_counts.hpp"
#include "library/testing.hpp"

namespace warpladder::library_tests {
namespace {

// Code is compiled by a made-up NVRTC, in which no compilation fails but that of BAD.
class CompiledHostPath : public testing::Test {
 protected:
  void SetUp() override {
    made_up::set_devices({made_up::Device{}});
    made_up::count_calls(true);
    made_up::reset_counts();
    ::setenv("WARPLADDER_NVRTC", WARPLADDER_MADE_UP_NVRTC, 1);
    ::setenv("WARPLADDER_CACHE", "off", 1);
    ASSERT_SUCCEEDS(warpladder_create(&handle_));
  }
  void TearDown() override { EXPECT_SUCCEEDS(warpladder_destroy(handle_)); }
  warpladder_status multiply(warpladder_epilogue epilogue, std::int64_t n) {
    float* const c = reinterpret_cast<float*>(1LL << 42);
    const std::int64_t ld = std::max<std::int64_t>(n, 1);
    return warpladder_sgemm_epilogue(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N,
                                     WARPLADDER_OP_N, n, n, n, 1, c + n * n, ld, c + 2 * n * n, ld,
                                     0, c, ld, epilogue, nullptr);
  }
  // row_20's, on CUDA cores: other rungs have a pass behind the product.
  static constexpr std::int64_t kFused = 16384;
  warpladder_handle handle_ = nullptr;
};

TEST_F(CompiledHostPath, LaunchesOneKernelOrAPassBehindTheProduct) {
  warpladder_epilogue epilogue = nullptr;
  warpladder_binary_op op = nullptr;
  ASSERT_SUCCEEDS(warpladder_epilogue_create(handle_, "x + 1", &epilogue));
  ASSERT_SUCCEEDS(warpladder_binary_op_create(handle_, "a + b", 0, &op));
  ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle_, WARPLADDER_ARITHMETIC_CUDA_CORES));
  float* const x = reinterpret_cast<float*>(1LL << 42);
  const auto fold = [&](std::int64_t n) {
    return warpladder_reduce_with(handle_, op, n, x, x - 1, nullptr);
  };
  const struct {
    std::function<warpladder_status()> call;
    int launches;
  } calls[] = {{[&] { return multiply(epilogue, kFused); }, 1},
               {[&] { return multiply(epilogue, 0); }, 0},
               {[&] { return fold(1000); }, 1},
               {[&] { return fold(1 << 20); }, 2},
               {[&] { return fold(0); }, 1}};
  for (const auto& [call, launches] : calls) {
    EXPECT_SUCCEEDS(call());
    made_up::reset_counts();
    EXPECT_SUCCEEDS(call());
    EXPECT_EQ(made_up::counts().launches, launches);
    EXPECT_EQ(made_up::counts().of("cudaLibraryLoadData"), 0) << "a kernel is loaded once";
    EXPECT_EQ(made_up::counts().of("cudaDeviceGetAttribute"), 0);
  }
  made_up::count_calls(false);
  const long heap = taken::heap_allocations, locks = taken::locks;
  EXPECT_SUCCEEDS(multiply(epilogue, kFused));
  EXPECT_EQ(taken::heap_allocations, heap) << "heap memory in a warm call";
  EXPECT_EQ(taken::locks, locks);
  made_up::count_calls(true);
  // Tensor cores are so much faster that a pass over C costs less than they save.
  ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle_, WARPLADDER_ARITHMETIC_ACCURATE));
  made_up::reset_counts();
  EXPECT_SUCCEEDS(multiply(epilogue, 4096));
  const int with_pass = made_up::counts().launches;
  made_up::reset_counts();
  EXPECT_SUCCEEDS(warpladder_sgemm(handle_, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, WARPLADDER_OP_N,
                                   4096, 4096, 4096, 1, x + (1 << 24), 4096, x + (1 << 25), 4096, 0,
                                   x, 4096, nullptr));
  EXPECT_EQ(with_pass, made_up::counts().launches + 1);
  EXPECT_SUCCEEDS(warpladder_epilogue_destroy(handle_, epilogue));
  EXPECT_SUCCEEDS(warpladder_binary_op_destroy(handle_, op));
}

TEST_F(CompiledHostPath, RefusesInOneSentenceAndLaunchesNothing) {
  warpladder_epilogue epilogue = nullptr, other = nullptr;
  warpladder_binary_op op = nullptr;
  EXPECT_EQ(warpladder_epilogue_create(handle_, "BAD", &epilogue), WARPLADDER_INVALID_ARGUMENT);
  EXPECT_STREQ(warpladder_last_error(),
               "epilogue_create: the compiler says: identifier \"BAD\" is undefined");
  EXPECT_EQ(warpladder_epilogue_create(handle_, "x; x", &epilogue), WARPLADDER_INVALID_ARGUMENT);
  EXPECT_EQ(warpladder_epilogue_create(handle_, nullptr, &epilogue), WARPLADDER_INVALID_ARGUMENT);
  EXPECT_EQ(warpladder_epilogue_create(handle_, "x", nullptr), WARPLADDER_INVALID_ARGUMENT);
  EXPECT_EQ(warpladder_binary_op_create(handle_, "a +", 0, nullptr), WARPLADDER_INVALID_ARGUMENT);
  EXPECT_EQ(warpladder_epilogue_create(nullptr, "x", &epilogue), WARPLADDER_INVALID_HANDLE);
  EXPECT_EQ(epilogue, nullptr);
  made_up::fail_next("cudaLibraryLoadData", cudaErrorInvalidKernelImage);
  EXPECT_EQ(warpladder_epilogue_create(handle_, "x + 2", &epilogue), WARPLADDER_CUDA_ERROR);

  ASSERT_SUCCEEDS(warpladder_epilogue_create(handle_, "x + 2", &epilogue));
  ASSERT_SUCCEEDS(warpladder_binary_op_create(handle_, "a * b", 1, &op));
  warpladder_handle second = nullptr;
  ASSERT_SUCCEEDS(warpladder_create(&second));
  ASSERT_SUCCEEDS(warpladder_epilogue_create(second, "x + 2", &other));
  made_up::reset_counts();
  EXPECT_EQ(multiply(nullptr, 64), WARPLADDER_INVALID_ARGUMENT);
  EXPECT_EQ(multiply(other, 64), WARPLADDER_INVALID_ARGUMENT) << "another handle's";
  EXPECT_EQ(multiply(epilogue, -1), WARPLADDER_INVALID_ARGUMENT);
  float* const x = reinterpret_cast<float*>(1LL << 42);
  const struct {
    std::int64_t n;
    float* in;
    float* result;
  } bad[] = {{-1, x, x - 1}, {10, x, x + 3}, {10, nullptr, x}, {10, x, nullptr}};
  for (const auto& [n, in, result] : bad) {
    EXPECT_EQ(warpladder_reduce_with(handle_, op, n, in, result, nullptr),
              WARPLADDER_INVALID_ARGUMENT);
  }
  // What is compiled first cannot be captured, what this process has can.
  ASSERT_SUCCEEDS(warpladder_set_arithmetic(handle_, WARPLADDER_ARITHMETIC_CUDA_CORES));
  made_up::set_capturing(nullptr, true);
  EXPECT_EQ(multiply(epilogue, kFused), WARPLADDER_CAPTURING);
  EXPECT_EQ(made_up::counts().launches, 0);
  made_up::set_capturing(nullptr, false);
  EXPECT_SUCCEEDS(multiply(epilogue, kFused));
  made_up::set_capturing(nullptr, true);
  EXPECT_SUCCEEDS(multiply(epilogue, kFused));
  made_up::set_capturing(nullptr, false);
  EXPECT_SUCCEEDS(warpladder_epilogue_destroy(handle_, epilogue));
  EXPECT_SUCCEEDS(warpladder_epilogue_destroy(second, other));
  EXPECT_SUCCEEDS(warpladder_binary_op_destroy(handle_, op));
  EXPECT_SUCCEEDS(warpladder_epilogue_destroy(handle_, nullptr));
  EXPECT_SUCCEEDS(warpladder_destroy(second));
}

}  // namespace
}  // namespace warpladder::library_tests
