#pragma once
// launch(): the one way to start a kernel. A kernel's source is compiled up to three times, once
// per flavour. The build names the flavour in WARPLADDER_FLAVOUR, and everything that device code
// instantiates lives in an inline namespace of that name. Otherwise the linker would keep one copy
// of a template for all flavours, and counts would depend on the order of the object files.

#include <cstddef>
#include <tuple>
#include <utility>

#include "runtime/stream.hpp"
#include "runtime/tensor_map.hpp"

#if !defined(WARPLADDER_FLAVOUR)
#error "compile kernels through the warpladder_*_kernels() functions of cmake/kernels.cmake"
#endif
#if !defined(__CUDACC__)
#include "executor/launch.hpp"
#endif

namespace warpladder::runtime {

inline namespace WARPLADDER_FLAVOUR {

// What this translation unit is being compiled for; the macro is one of the enumerators' names.
constexpr Flavour kThisFlavour = Flavour::WARPLADDER_FLAVOUR;

// LaunchConfig in CUDA's words: the grid in blocks, a block in threads.
struct LaunchShape {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  unsigned cluster = 1;
  bool overlaps_previous = false;

  LaunchConfig config() const {
    return {{grid.x, grid.y, grid.z},
            {block.x, block.y, block.z},
            dynamic_shared_bytes,
            cluster,
            overlaps_previous};
  }
};

// Runs kernel(arguments...) on the stream. On a GPU the kernel runs asynchronously, and a refused
// launch becomes the stream's error. On the CPU side throws Error if the launch is refused, and
// KernelFault if the kernel breaks a rule of CUDA.
template <class... Parameters, class... Arguments>
void launch(StreamView& stream, const LaunchShape& shape, void (*kernel)(Parameters...),
            Arguments&&... arguments) {
#if defined(__CUDACC__)
  std::tuple<Parameters...> values(static_cast<Parameters>(arguments)...);
  std::apply(
      [&](auto&... value) {
        void* pointers[] = {&value..., nullptr};
        gpu_launch(stream, reinterpret_cast<const void*>(kernel), shape.config(), pointers);
      },
      values);
#else
  struct Packed {
    void (*kernel)(Parameters...);
    std::tuple<Parameters...> values;
  };
  const Packed packed{kernel, {static_cast<Parameters>(arguments)...}};
  executor::launch(
      stream, reinterpret_cast<const void*>(kernel), shape.config(),
      kThisFlavour == Flavour::counted,
      [](const void* p) {
        const auto* packed_ = static_cast<const Packed*>(p);
        std::apply(packed_->kernel, packed_->values);
      },
      &packed, sizeof packed);
#endif
}

// The map of a matrix, for a kernel that will run on the stream.
inline TensorMap encode(StreamView& stream, const TiledMatrix& matrix) {
#if defined(__CUDACC__)
  return gpu_encode(stream, matrix);
#else
  return executor::encode(stream, matrix);
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::runtime
