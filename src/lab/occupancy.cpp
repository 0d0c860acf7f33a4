#include "lab/occupancy.hpp"

#include <charconv>

namespace warpladder::lab {
namespace {

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

std::optional<Sm> sm_of(int capability) {
  constexpr std::size_t kKib = 1024;
  switch (capability) {
    case 75:
      return Sm{32, 16, 64 * kKib, 64 * kKib, 0, 256};
    case 80:
      return Sm{64, 32, 164 * kKib, 163 * kKib};
    case 86:
      return Sm{48, 16, 100 * kKib, 99 * kKib};
    case 89:
    case 120:
      return Sm{48, 24, 100 * kKib, 99 * kKib};
    case 90:
    case 100:
      return Sm{};
    default:
      return std::nullopt;
  }
}

std::optional<Sm> sm_of(std::string_view architecture) {
  if (architecture.ends_with('a') || architecture.ends_with('f')) architecture.remove_suffix(1);
  int capability = 0;
  const char* const end = architecture.data() + architecture.size();
  const auto [rest, error] = std::from_chars(architecture.data(), end, capability);
  return error == std::errc{} && rest == end ? sm_of(capability) : std::nullopt;
}

Occupancy occupancy(const KernelResources& kernel, const Sm& sm) {
  Occupancy result;
  result.most_warps = sm.warps;
  if (kernel.threads == 0 || kernel.threads > Sm::block_threads) return result;
  const unsigned block_warps = round_up(kernel.threads, Sm::warp_threads) / Sm::warp_threads;
  // Of equal limits the first is named: what no kernel can change, before what one can.
  result.blocks = sm.warps / block_warps;
  const auto limit = [&](Limiter limiter, unsigned blocks) {
    if (blocks >= result.blocks) return;
    result.blocks = blocks;
    result.limiter = limiter;
  };
  limit(Limiter::blocks, sm.blocks);
  limit(Limiter::shared_memory, blocks_by_shared_memory(kernel.shared_bytes, sm));
  if (kernel.registers && *kernel.registers > 0) {
    limit(Limiter::registers, blocks_by_registers(*kernel.registers, block_warps));
  }
  result.warps = result.blocks * block_warps;
  return result;
}

}  // namespace warpladder::lab
