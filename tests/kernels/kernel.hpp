#pragma once
// What a test kernel's file includes: CUDA C++, and the declaration of a kernel by its name.

#include <tuple>
#include <type_traits>

#include "kernels/registry.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::kernel_tests {
inline namespace WARPLADDER_FLAVOUR {

template <class Parameter>
Parameter take(const Arguments& a, int& pointers, int& numbers, int& maps) {
  if constexpr (std::is_same_v<Parameter, runtime::TensorMap>) {
    return a.map[maps++];
  } else if constexpr (std::is_pointer_v<Parameter>) {
    return static_cast<Parameter>(a.pointer[pointers++]);
  } else {
    return static_cast<Parameter>(a.number[numbers++]);
  }
}

template <class... Parameters>
void launch_with(runtime::StreamView& stream, const Arguments& a, void (*kernel)(Parameters...)) {
  const runtime::LaunchShape shape{dim3(a.grid.x, a.grid.y, a.grid.z),
                                   dim3(a.block.x, a.block.y, a.block.z), a.dynamic_shared_bytes,
                                   a.cluster};
  int pointers = 0, numbers = 0, maps = 0;
  // Braces: the parameters take their values from left to right.
  const std::tuple<Parameters...> values{take<Parameters>(a, pointers, numbers, maps)...};
  std::apply([&](auto... value) { runtime::launch(stream, shape, kernel, value...); }, values);
}

// Accesses through a function of a header belong to the line of the kernel that calls it.
__device__ __forceinline__ float4 load4(const float* p) {
  return *reinterpret_cast<const float4*>(p);
}
__device__ __forceinline__ void store4(float* p, float4 v) { *reinterpret_cast<float4*>(p) = v; }

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::kernel_tests

// Declares a kernel of this file, a template's instance included, under the name written here.
#define WARPLADDER_TEST_KERNEL(...) WARPLADDER_TEST_KERNEL_AT(__COUNTER__, __VA_ARGS__)
#define WARPLADDER_TEST_KERNEL_AT(counter, ...) WARPLADDER_TEST_KERNEL_NAMED(counter, __VA_ARGS__)
#define WARPLADDER_TEST_KERNEL_NAMED(counter, ...)                                                \
  [[maybe_unused]] static const bool test_kernel_##counter = ::warpladder::kernel_tests::declare( \
      {#__VA_ARGS__, ::warpladder::runtime::kThisFlavour,                                         \
       [](::warpladder::runtime::StreamView& stream,                                              \
          const ::warpladder::kernel_tests::Arguments& arguments) {                               \
         ::warpladder::kernel_tests::launch_with(stream, arguments, __VA_ARGS__);                 \
       }})
