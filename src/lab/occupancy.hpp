#pragma once
// How many blocks of a kernel an SM holds at once, and which resource limits them. The rules are
// those of CUDA's cuda_occupancy.h.

#include <cstddef>
#include <optional>
#include <string_view>

namespace warpladder::lab {

// The resources of an SM (CUDA C++ Programming Guide, "Technical Specifications"); the defaults are
// those of compute capability 9.0.
struct Sm {
  static constexpr unsigned warp_threads = 32, block_threads = 1024;
  static constexpr unsigned partitions = 4;  // of registers and warps, one per scheduler
  static constexpr unsigned registers = 65536, thread_registers = 255, register_unit = 256;
  unsigned warps = 64, blocks = 32;
  std::size_t shared_bytes = 228 * 1024, block_shared_bytes = 227 * 1024;
  std::size_t reserved_shared_bytes = 1024;  // in every block, by the driver
  std::size_t shared_unit = 128;
};
// Of a compute capability, 10 · major + minor, or of an architecture as nvcc spells it behind sm_:
// 80, 90a. Empty for an unknown one.
std::optional<Sm> sm_of(int capability);
std::optional<Sm> sm_of(std::string_view architecture);

struct KernelResources {
  unsigned threads = 0;          // of a block
  std::size_t shared_bytes = 0;  // of a block, static and dynamic
  // Per thread. If unknown, registers limit nothing, and the answer is an upper bound.
  std::optional<unsigned> registers;
};

enum class Limiter { warps, blocks, shared_memory, registers };
const char* name(Limiter limiter);

struct Occupancy {
  unsigned blocks = 0;  // on an SM; 0: a GPU refuses to launch such a block
  unsigned warps = 0;   // on an SM
  Limiter limiter = Limiter::warps;
  unsigned most_warps = 0;  // that the SM holds
  double share() const { return static_cast<double>(warps) / most_warps; }
};

Occupancy occupancy(const KernelResources& kernel, const Sm& sm = {});

}  // namespace warpladder::lab
