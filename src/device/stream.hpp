#pragma once
// Where kernels run, in which order, and with what watching: the part of the device layer that
// kernels' translation units see. Memory and time are in device.hpp.

#include <cstddef>
#include <vector>

#include "device/counts.hpp"

namespace warpladder::device {

enum class Target { cpu, gpu };

// What a kernel's source was compiled into: by nvcc; by g++ to run on the CPU; by g++ with every
// access reported, counted and checked.
enum class Flavour { gpu, plain, counted };
constexpr int kFlavours = 3;

// Kernels and copies on one stream run in order. On the CPU side every call has finished when it
// returns. Not thread-safe; movable.
class Stream {
 public:
  explicit Stream(Target target);
  ~Stream();
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&&) = delete;

  Target target() const { return target_; }
  void* native() const { return native_; }  // the cudaStream_t on a GPU
  // Waits for everything on the stream. Throws Error with CUDA's sentence if any of it failed.
  void synchronize();

  // CPU side only: OS threads (0: one per core), shared-memory checks and where the counts of each
  // launch of the counted flavour are appended (null: nowhere).
  unsigned executor_threads = 0;
  bool check_shared_memory = true;
  std::vector<KernelCounts>* record_counts = nullptr;

 private:
  Target target_;
  void* native_ = nullptr;
};

struct LaunchConfig {
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  unsigned cluster = 1;  // neighbours along x that run at the same time and share shared memory
  // Blocks may start before the kernel in front of this one has ended (programmatic dependent
  // launch). Nothing that it writes may be read before ptx::wait_for_previous_kernel().
  bool overlaps_previous = false;
};

// The two ends of launch(), which see to the kernel's type.
void cpu_launch(Stream& stream, const void* kernel, const LaunchConfig& config, bool counted,
                void (*thunk)(const void*), const void* arguments, std::size_t argument_bytes);
void gpu_launch(Stream& stream, const void* kernel, const LaunchConfig& config, void** arguments);

}  // namespace warpladder::device
