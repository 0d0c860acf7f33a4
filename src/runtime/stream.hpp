#pragma once
// Where kernels run, and in which order: what the launch of a kernel needs to know. Plain data:
// kernels' translation units include this.

#include <cstddef>
#include <cstdint>

#include "runtime/machine.hpp"

namespace warpladder::executor {
struct Settings;  // of launches on the CPU
}

namespace warpladder::runtime {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

enum class Target { cpu, gpu };

// What a kernel's source was compiled into: by nvcc; by g++ to run on the CPU; by g++ with every
// access reported, counted and checked.
enum class Flavour { gpu, plain, counted };
constexpr int kFlavours = 3;

// Declares a function of which each flavour has its own, in a namespace of the flavour's name.
#define WARPLADDER_IN_EACH_FLAVOUR(...) \
  namespace gpu {                       \
  __VA_ARGS__                           \
  }                                     \
  namespace plain {                     \
  __VA_ARGS__                           \
  }                                     \
  namespace counted {                   \
  __VA_ARGS__                           \
  }

// A stream that belongs to somebody else: kernels launched on it run in order. Not thread-safe; a
// view costs nothing, so each call makes its own.
//
// A launch that CUDA refuses leaves its error here, and later launches on the view do nothing.
// The view's maker looks at `error` when all is launched.
struct StreamView {
  Target target = Target::gpu;
  void* native = nullptr;            // the cudaStream_t on a GPU
  const Machine* machine = nullptr;  // of the stream's device; never null when a kernel launches
  // The caller promises that the device's context is current: a launch need not make sure of it.
  bool is_context_current = false;
  int error = 0;                           // cudaError_t; 0: all launches were accepted
  executor::Settings* settings = nullptr;  // CPU side only
};

struct LaunchConfig {
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  unsigned cluster = 1;  // neighbours along x that run at the same time and share shared memory
  // Blocks may start before the kernel in front of this one has ended (programmatic dependent
  // launch). Nothing that it writes may be read before ptx::wait_for_previous_kernel(). GPUs
  // without this feature start the kernel when the previous one has ended.
  bool overlaps_previous = false;
};

// Launches a __global__ function compiled by nvcc. `arguments` holds a pointer to each parameter.
void gpu_launch(StreamView& stream, const void* kernel, const LaunchConfig& config,
                void** arguments) noexcept;

}  // namespace warpladder::runtime
