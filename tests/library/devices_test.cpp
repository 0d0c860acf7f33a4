// Several real GPUs in one process, and a GPU's memory after many calls. Each test is skipped where
// its GPUs are missing; host_path_test.cpp runs the same host code above made-up devices.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "library/testing.hpp"

namespace warpladder::library_tests {
namespace {

// A handle, a stream and operands on one device.
struct OnDevice {
  static constexpr int kMost = 640;
  int device;
  warpladder_handle handle = nullptr;
  cudaStream_t stream = nullptr;
  std::unique_ptr<DeviceArray<float>> a, b, c;

  explicit OnDevice(int number) : device(number) {
    require(cudaSetDevice(device), "cudaSetDevice");
    EXPECT_SUCCEEDS(warpladder_create(&handle));
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    a = std::make_unique<DeviceArray<float>>(random_floats(kMost * kMost, 1));
    b = std::make_unique<DeviceArray<float>>(random_floats(kMost * kMost, 2));
    c = std::make_unique<DeviceArray<float>>(std::vector<float>(kMost * kMost, 0));
  }
  ~OnDevice() {
    cudaSetDevice(device);
    EXPECT_SUCCEEDS(warpladder_destroy(handle));
    cudaStreamDestroy(stream);
    a.reset(), b.reset(), c.reset();
  }
  warpladder_status product(int m, int n, int k, cudaStream_t on) const {
    return warpladder_sgemm(handle, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_N, WARPLADDER_OP_T, m, n, k,
                            1, a->data(), k, b->data(), k, 0, c->data(), n, on);
  }
  std::vector<float> result() const {
    require(cudaSetDevice(device), "cudaSetDevice");
    return c->download();
  }
};

int gpus() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

TEST(Devices, ShareAProcess) {
  if (gpus() < 2) GTEST_SKIP() << "this test needs two GPUs";
  const OnDevice first(0), second(1);
  const struct {
    int m, n, k;
  } shapes[] = {{33, 65, 17}, {256, 256, 300}, {640, 640, 640}, {640, 8, 640}};
  for (const auto& [m, n, k] : shapes) {
    // Each call while the other device is current; neither call changes which device that is.
    require(cudaSetDevice(1), "cudaSetDevice");
    EXPECT_SUCCEEDS(first.product(m, n, k, first.stream));
    require(cudaSetDevice(0), "cudaSetDevice");
    EXPECT_SUCCEEDS(second.product(m, n, k, second.stream));
    int current = -1;
    require(cudaGetDevice(&current), "cudaGetDevice");
    EXPECT_EQ(current, 0);
    EXPECT_EQ(first.result(), second.result()) << m << "x" << n << "x" << k;
  }
  const auto before = first.result();
  EXPECT_EQ(first.product(64, 64, 64, second.stream), WARPLADDER_WRONG_DEVICE);
  EXPECT_NE(std::string(warpladder_last_error()).find("device 1"), std::string::npos)
      << warpladder_last_error();
  EXPECT_EQ(first.result(), before);
  EXPECT_SUCCEEDS(first.product(64, 64, 64, first.stream));
}

// Pages of host memory that the process holds.
long host_pages() {
  long size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident;
}

// Calls of mixed shapes and operators; WARPLADDER_TEST_CALLS says how many.
TEST(DeviceMemory, DoesNotGrow) {
  if (gpus() == 0) GTEST_SKIP() << "this test needs a GPU";
  const char* const wish = std::getenv("WARPLADDER_TEST_CALLS");
  // Shapes recur after kPeriod calls. Before, the largest workspace may still be to come, and CUDA
  // loads a kernel when it is first launched.
  constexpr int kPeriod = 9'600, kStep = 800;
  const int calls = wish ? std::atoi(wish) : 4000, warm = calls >= 2 * kPeriod ? kPeriod : kStep;
  const OnDevice x(0);
  std::size_t after_warming = 0, most_lost = 0, total = 0;
  long pages_when_warm = 0;
  int first_lost = 0;
  for (int call = 0; call < calls; ++call) {
    const int m = 1 + call * 7 % 300, n = 1 + call * 11 % 300, k = 1 + call * 13 % 640;
    switch (call % 4) {
      case 0:
        ASSERT_SUCCEEDS(x.product(m, n, k, x.stream));
        break;
      case 1:
        ASSERT_SUCCEEDS(warpladder_sgemv(x.handle, WARPLADDER_ROW_MAJOR, WARPLADDER_OP_T, m, n, 1,
                                         x.a->data(), n, x.b->data(), 1, 0, x.c->data(), 1,
                                         x.stream));
        break;
      case 2:
        ASSERT_SUCCEEDS(warpladder_reduce(x.handle, WARPLADDER_SUM, std::int64_t{m} * n,
                                          x.a->data(), x.c->data(), x.stream));
        break;
      default:
        ASSERT_SUCCEEDS(x.product(640, 640, 320 + call % 16, x.stream));
    }
    if (call % kStep != kStep - 1) continue;
    require(cudaStreamSynchronize(x.stream), "calls");
    std::size_t left = 0;
    require(cudaMemGetInfo(&left, &total), "cudaMemGetInfo");
    if (call < warm) {
      after_warming = left;
      pages_when_warm = host_pages();
    } else if (left < after_warming) {
      most_lost = std::max(most_lost, after_warming - left);
      if (first_lost == 0) first_lost = call;
    }
  }
  EXPECT_EQ(most_lost, 0u) << "bytes of device memory, first at call " << first_lost;
  constexpr long kSparePages = 1024;  // a leak of 8 bytes a call shows in 10^6 calls
  if (warm == kPeriod) {
    EXPECT_LE(host_pages(), pages_when_warm + kSparePages) << "after " << calls << " calls";
  }
}

}  // namespace
}  // namespace warpladder::library_tests
