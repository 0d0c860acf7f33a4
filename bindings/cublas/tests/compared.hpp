#pragma once
// What WARPLADDER_CUBLAS=verify must do with every call, with and without a fault.

#include <functional>
#include <string>

#include "matrices.hpp"

namespace shim_tests {

// A call whose result begins at `first`.
struct Compared {
  std::function<void()> run;           // once, on fresh operands
  std::function<void()> expect_right;  // of the result
  const float* first = nullptr;
  int matrices = 1;
};

// Both compute, cuBLAS's result is handed over, and a fault in either one is told.
inline void expect_compared(const Compared& call) {
  made_up::Gpu& gpu = made_up::gpu();
  // What is told of one run.
  const auto told = [&] {
    const int ours = gpu.products;
    testing::internal::CaptureStderr();
    call.run();
    EXPECT_EQ(gpu.products, ours + 1);
    EXPECT_EQ(gpu.live_allocations, 0u);
    return testing::internal::GetCapturedStderr();
  };
  const std::string alarm = ": DIFFERS: " + std::to_string(call.matrices) + " elements";
  const std::string without_fault = told();
  EXPECT_EQ(without_fault.find("DIFFERS"), std::string::npos) << without_fault;
  call.expect_right();
  const float right = *call.first;
  for (const auto fault : {made_up::Fault::first, made_up::Fault::last}) {
    gpu.fault = fault;
    const std::string with_fault = told();
    EXPECT_NE(with_fault.find(alarm), std::string::npos) << with_fault;
    call.expect_right();
  }
  gpu.fault = made_up::Fault::none;
  made_up_cublas_fault(1);
  const std::string with_their_fault = told();
  EXPECT_NE(with_their_fault.find(alarm), std::string::npos) << with_their_fault;
  EXPECT_NE(*call.first, right);
  made_up_cublas_fault(0);
}

// cuBLAS's part in a comparison shows in its own count of calls, for each of the four runs.
inline void expect_product_compared(Case& p, const char* function,
                                    const std::function<cublasStatus_t()>& call) {
  const int theirs = made_up_cublas_calls(function);
  expect_compared({[&] {
                     p.c = p.before;
                     EXPECT_EQ(call(), CUBLAS_STATUS_SUCCESS);
                   },
                   [&] { p.expect_right(); }, p.c.data(), static_cast<int>(p.batch)});
  EXPECT_EQ(made_up_cublas_calls(function), theirs + 4);
}

}  // namespace shim_tests
