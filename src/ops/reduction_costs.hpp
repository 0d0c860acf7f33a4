#pragma once
// What partial results ask of memory, for the predictions of operators that reduce: a value is a
// word, a place two neighbouring ones. Included by rungs.

#include "ladder/rung.hpp"
#include "parts/reduction_function.hpp"

namespace warpladder::ops {
inline namespace WARPLADDER_FLAVOUR {

struct PartialCosts {
  explicit PartialCosts(parts::Function f) : place(parts::is_place(f)) {}
  std::uint64_t bytes() const { return place ? 8 : 4; }
  // Of neighbouring partial results in global memory.
  std::uint64_t sectors(std::uint64_t count) const { return (count * bytes() + 31) / 32; }
  // In shared memory. A place takes two wavefronts, or one where all lanes that ask are in one half
  // of the warp: such accesses are `narrow`.
  std::uint64_t wavefronts(std::uint64_t wide, std::uint64_t narrow) const {
    return wide * (place ? 2 : 1) + narrow;
  }
  void add_shared_loads(ladder::Totals& t, std::uint64_t wide, std::uint64_t narrow) const {
    t.shared_load_requests += wide + narrow;
    t.shared_load_wavefronts += wavefronts(wide, narrow);
  }
  void add_shared_stores(ladder::Totals& t, std::uint64_t wide, std::uint64_t narrow) const {
    t.shared_store_requests += wide + narrow;
    t.shared_store_wavefronts += wavefronts(wide, narrow);
  }
  // parts::warp_reduce() of so many warps, in groups of so many lanes.
  void add_warp_reduce(ladder::Totals& t, std::uint64_t warps, int width = 32) const {
    if (place && width == 32) {
      t.shuffles += 2 * warps;
    } else {
      for (; width > 1; width /= 2) t.shuffles += warps;
    }
  }
  // parts::block_reduce() in so many blocks of so many warps, a power of two.
  void add_block_reduce(ladder::Totals& t, std::uint64_t blocks, int warps) const {
    add_warp_reduce(t, blocks * warps);
    if (warps == 1) return;
    add_shared_stores(t, 0, blocks * warps);
    add_shared_loads(t, warps == 32 ? blocks : 0, warps == 32 ? 0 : blocks);
    t.barriers += blocks * warps;
    add_warp_reduce(t, blocks, warps);
  }
  bool place;
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ops
