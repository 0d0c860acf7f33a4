#pragma once
// Batches in even shares of tiles (row_34_even_batches): the tiles, and the time that shares take
// by row_33's model. Host code of the rung and of plan().

#include "ops/sgemm/low_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

using Low32Pair = RingTile<32, 64, 4, 8, 4, 1, 8, 4, 10>;  // of two warps

// Fitted to 11,800 times of 800 batches on an H200, as are the words of A of Low32 and Low96.
template <>
constexpr LowTiming kLowTiming<Low32Pair>{0.172, 0.0914, 2.02, {0.295, 0.602}, {0.103, 0.311}};
template <>
constexpr LowTiming kLowTiming<EvenTile>{0.510, 0.590, 4.87, {0.072, 0.169}, {0.0192, 0.135}};

// Of `count` products whose A is the smaller operand. `run` gets the form and its shares.
template <class Run>
auto with_batch_tile(const Problem& p, std::int64_t count, const runtime::Machine& machine,
                     const Run& run) {
  return with_fastest_tile<LowForm<Low64, false>, LowForm<EvenTile, false>, LowForm<Low96, false>,
                           LowForm<Low32, false>, LowForm<Low64Narrow, false>,
                           LowForm<Low32Pair, false>>(
      {p.m, p.n, p.k, count, p.trans_a + 2 * p.trans_b}, machine,
      [&]<class Form>() { return low_shares<Form, false>(p, count, machine); }, run);
}

// Whatever the tile.
inline bool fits_even_batch(const Problem& p, std::int64_t count) {
  return fits_even_tiles<Low32Pair>(smaller_first(p), count);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
