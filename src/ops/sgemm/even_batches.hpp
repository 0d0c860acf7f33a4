#pragma once
// Batches in even shares of tiles (row_34_even_batches): the tiles, and the time that shares take
// by row_33's model. Host code of the rung and of plan().

#include "ops/sgemm/low_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

using Low32Pair = RingTile<32, 64, 4, 8, 4, 1, 8, 4, 10>;  // of two warps

// Fitted to 11,800 times of 800 batches on an H200, as are the words of A of Low32 and Low96.
template <>
constexpr LowTiming kLowTiming<Low32Pair>{0.172, 0.0914, 2.02, {0.295, 0.154}, {0.103, 0.125}};
template <>
constexpr LowTiming kLowTiming<EvenTile>{0.510, 0.590, 4.87, {0.072, 0.118}, {0.0192, 0.123}};

// A tile, and whether A is the larger operand instead of the smaller one: the tile's longer side
// may waste less there.
template <class C, bool kLargerFirst>
struct BatchForm : LowForm<C, false> {
  static bool is_turned(const Problem& p) {
    return LowForm<C, false>::is_turned(p) != kLargerFirst;
  }
};

// Of `count` products. `run` gets the form and its shares.
template <class Run>
auto with_batch_tile(const Problem& p, std::int64_t count, const runtime::Machine& machine,
                     const Run& run) {
  return with_fastest_tile<BatchForm<Low64, false>, BatchForm<EvenTile, false>,
                           BatchForm<Low96, false>, BatchForm<Low32, false>,
                           BatchForm<Low64Narrow, false>, BatchForm<Low32Pair, false>,
                           BatchForm<Low64, true>, BatchForm<Low96, true>, BatchForm<Low32, true>,
                           BatchForm<Low32Pair, true>>(
      {p.m, p.n, p.k, count, p.trans_a + 2 * p.trans_b}, machine,
      [&]<class Form>() { return low_shares<Form, false>(in_form<Form>(p), count, machine); }, run);
}

// Whatever the form.
inline bool fits_even_batch(const Problem& p, std::int64_t count) {
  return fits_even_tiles<Low32Pair>(p, count) && fits_even_tiles<Low32Pair>(transposed(p), count);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
