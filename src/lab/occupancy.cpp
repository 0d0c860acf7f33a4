#include "lab/occupancy.hpp"

namespace warpladder::lab {
namespace {

using Sm = Multiprocessor;

template <class T>
constexpr T round_up(T n, T unit) {
  return (n + unit - 1) / unit * unit;
}

unsigned blocks_by_shared_memory(std::size_t bytes, const Sm& sm) {
  const std::size_t allocated = round_up(bytes + sm.reserved_shared_bytes, sm.shared_unit);
  if (bytes > sm.block_shared_bytes) return 0;
  return allocated ? static_cast<unsigned>(sm.shared_bytes / allocated) : sm.blocks;
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

std::optional<Multiprocessor> multiprocessor_of(std::string_view architecture) {
  constexpr std::size_t kKib = 1024;
  if (!architecture.empty() && (architecture.back() == 'a' || architecture.back() == 'f')) {
    architecture.remove_suffix(1);
  }
  if (architecture == "75") return Multiprocessor{32, 16, 64 * kKib, 64 * kKib, 0, 256};
  if (architecture == "80") return Multiprocessor{64, 32, 164 * kKib, 163 * kKib};
  if (architecture == "86") return Multiprocessor{48, 16, 100 * kKib, 99 * kKib};
  if (architecture == "89" || architecture == "120") {
    return Multiprocessor{48, 24, 100 * kKib, 99 * kKib};
  }
  if (architecture == "90" || architecture == "100") return kHopperSm;
  return std::nullopt;
}

Occupancy occupancy(const KernelResources& kernel, const Multiprocessor& sm) {
  if (kernel.threads == 0 || kernel.threads > Sm::block_threads) return {};
  const unsigned block_warps = round_up(kernel.threads, Sm::warp_threads) / Sm::warp_threads;
  // Of equal limits the first is named: what no kernel can change, before what one can.
  Occupancy result{sm.warps / block_warps, 0, Limiter::warps, 0};
  const auto limit = [&](Limiter limiter, unsigned blocks) {
    if (blocks < result.blocks) result = {blocks, 0, limiter, 0};
  };
  limit(Limiter::blocks, sm.blocks);
  limit(Limiter::shared_memory, blocks_by_shared_memory(kernel.shared_bytes, sm));
  if (kernel.registers && *kernel.registers > 0) {
    limit(Limiter::registers, blocks_by_registers(*kernel.registers, block_warps));
  }
  result.warps = result.blocks * block_warps;
  result.share = static_cast<double>(result.warps) / sm.warps;
  return result;
}

}  // namespace warpladder::lab
