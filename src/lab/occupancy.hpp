#pragma once
// How many blocks of a kernel an SM of compute capability 9.0 (H100, H200) holds at once, and what
// keeps it from holding more. Arithmetic only: the rules are those of CUDA's cuda_occupancy.h.

#include <cstddef>
#include <optional>

namespace warpladder::lab {

// One SM of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications").
struct HopperSm {
  static constexpr unsigned warp_threads = 32, warps = 64, blocks = 32, block_threads = 1024;
  static constexpr unsigned partitions = 4;  // of registers and warps, one per scheduler
  static constexpr unsigned registers = 65536, thread_registers = 255, register_unit = 256;
  static constexpr std::size_t shared_bytes = 228 * 1024, block_shared_bytes = 227 * 1024;
  static constexpr std::size_t reserved_shared_bytes = 1024;  // in every block, by the driver
  static constexpr std::size_t shared_unit = 128;
};

struct KernelResources {
  unsigned threads = 0;          // of a block
  std::size_t shared_bytes = 0;  // of a block, static and dynamic
  // Per thread. Without them the registers limit nothing: the answer is then an upper bound.
  std::optional<unsigned> registers;
};

enum class Limiter { warps, blocks, shared_memory, registers };
const char* name(Limiter limiter);

struct Occupancy {
  unsigned blocks = 0;  // on an SM; 0: a GPU refuses to launch such a block
  unsigned warps = 0;   // on an SM
  Limiter limiter = Limiter::warps;
  double share() const { return static_cast<double>(warps) / HopperSm::warps; }
};

Occupancy occupancy(const KernelResources& kernel);

}  // namespace warpladder::lab
