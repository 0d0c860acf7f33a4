// parts/element_map and parts/fold with functions that a user might write.

#include "kernels/kernel.hpp"
#include "parts/element_map.hpp"
#include "parts/fold.hpp"

namespace warpladder::kernel_tests {
namespace {

struct Leaky {
  __device__ __forceinline__ float operator()(const float x) const { return x > 0 ? x : 0.5f * x; }
};
struct Greater {
  __device__ __forceinline__ float operator()(const float a, const float b) const {
    return a > b ? a : b;
  }
};
struct Plus {
  __device__ __forceinline__ float operator()(const float a, const float b) const { return a + b; }
};
WARPLADDER_TEST_KERNEL(parts::map_elements<Leaky, 1>);
WARPLADDER_TEST_KERNEL(parts::map_elements<Leaky, 4>);
WARPLADDER_TEST_KERNEL(parts::fold<Greater>);
WARPLADDER_TEST_KERNEL(parts::fold<Plus>);

}  // namespace
}  // namespace warpladder::kernel_tests
