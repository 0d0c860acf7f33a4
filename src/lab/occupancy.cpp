#include "lab/occupancy.hpp"

namespace warpladder::lab {
namespace {

using Sm = HopperSm;

template <class T>
constexpr T round_up(T n, T unit) {
  return (n + unit - 1) / unit * unit;
}

unsigned blocks_by_shared_memory(std::size_t bytes) {
  const std::size_t allocated = round_up(bytes + Sm::reserved_shared_bytes, Sm::shared_unit);
  if (bytes > Sm::block_shared_bytes) return 0;
  return static_cast<unsigned>(Sm::shared_bytes / allocated);
}

// A warp lives in one partition and takes its registers there, in units that all its lanes share.
unsigned blocks_by_registers(unsigned registers, unsigned block_warps) {
  const unsigned warp_registers = round_up(registers * Sm::warp_threads, Sm::register_unit);
  // The launch is checked as if the block filled all partitions alike.
  const unsigned assumed = warp_registers * round_up(block_warps, Sm::partitions);
  if (registers > Sm::thread_registers || assumed > Sm::registers) return 0;
  const unsigned partition_warps = Sm::registers / Sm::partitions / warp_registers;
  return partition_warps * Sm::partitions / block_warps;
}

}  // namespace

const char* name(Limiter limiter) {
  switch (limiter) {
    case Limiter::warps:
      return "warps";
    case Limiter::blocks:
      return "blocks";
    case Limiter::shared_memory:
      return "shared memory";
    case Limiter::registers:
      return "registers";
  }
  return "";
}

Occupancy occupancy(const KernelResources& kernel) {
  if (kernel.threads == 0 || kernel.threads > Sm::block_threads) return {};
  const unsigned block_warps = round_up(kernel.threads, Sm::warp_threads) / Sm::warp_threads;
  // Of equal limits the first is named: what no kernel can change, before what one can.
  Occupancy result{Sm::warps / block_warps, 0, Limiter::warps};
  const auto limit = [&](Limiter limiter, unsigned blocks) {
    if (blocks < result.blocks) result = {blocks, 0, limiter};
  };
  limit(Limiter::blocks, Sm::blocks);
  limit(Limiter::shared_memory, blocks_by_shared_memory(kernel.shared_bytes));
  if (kernel.registers && *kernel.registers > 0) {
    limit(Limiter::registers, blocks_by_registers(*kernel.registers, block_warps));
  }
  result.warps = result.blocks * block_warps;
  return result;
}

}  // namespace warpladder::lab
