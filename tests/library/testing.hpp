#pragma once
// What the tests of the C interface share. They run in three programs. One has the library's own
// GPU code on a GPU, one the executor and a simulated CUDA runtime. The third does not look at
// values: it has the library's host code and a simulated CUDA runtime.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "library/device_array.hpp"
#include "warpladder/warpladder.h"

namespace warpladder::library_tests {

inline std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

// A handle for the current device; the test is skipped where there is no GPU.
class WithHandle : public testing::Test {
 protected:
  void SetUp() override {
    const warpladder_status status = warpladder_create(&handle_);
    if (status == WARPLADDER_NO_DEVICE) GTEST_SKIP() << warpladder_last_error();
    ASSERT_EQ(status, WARPLADDER_SUCCESS) << warpladder_last_error();
  }
  void TearDown() override {
    if (handle_) {
      EXPECT_EQ(warpladder_destroy(handle_), WARPLADDER_SUCCESS);
    }
  }
  warpladder_handle handle_ = nullptr;
};

#define EXPECT_SUCCEEDS(call) EXPECT_EQ(call, WARPLADDER_SUCCESS) << warpladder_last_error()
#define ASSERT_SUCCEEDS(call) ASSERT_EQ(call, WARPLADDER_SUCCESS) << warpladder_last_error()

}  // namespace warpladder::library_tests
