#pragma once
// The pass in front of a product on tensor cores: writes an operand's lines (rows of A, columns of
// B) as float pairs (float_pairs.hpp) along k, padded with zeros to whole groups, whatever the
// operand's layout and alignment; each line times a power of two of its own. Reads an operand once
// up to k = 16,384, twice beyond. Nothing is expected of the memory that it writes.
//
// What an FP16 pair keeps depends on the line's largest element: down to 2^-16 of it all 22 bits,
// below that an absolute error of 2^-39 of it. Whether this matters depends on the other operand:
// in [1, 2^-30]·[2^-30, 1] all the more. So pieces of 256 along k are counted: `small`, the
// elements that lose bits, and `far`, those below 2^-8 of the largest. A piece of a product has at
// least 256 - far(A) - far(B) terms of 2^-16 of the largest or more, and an error of at most
// (small(A) + small(B))·2^-39 of it: no more than half of 2^-24, one rounding, of its magnitudes if
//   4·(small(A) + small(B)) <= 256 - far(A) - far(B).
// The other half is for the elements behind the last whole piece, of which only `small` is counted.
// Most of each over all lines and pieces decides: see fits_half_pairs().

#include "device/kernel.hpp"
#include "parts/ptx/cluster.hpp"
#include "parts/ptx/tma.hpp"
#include "parts/split/across.hpp"
#include "parts/split/along.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Both operands in one launch, first the one that takes longer.
template <class Pairs, LineLength length>
__device__ __forceinline__ void split_block(const SplitOperand& a, const SplitOperand& b,
                                            unsigned cluster, void* shared) {
  const bool b_first = length != LineLength::brief && a.along && !b.along;
  const unsigned first = b_first ? b.blocks : a.blocks;
  const bool is_b = (blockIdx.x < first) == b_first;
  const SplitOperand& x = is_b ? b : a;
  const unsigned block = blockIdx.x < first ? blockIdx.x : blockIdx.x - first;
  BlockSync sync;
  if (x.along) {
    split_along<Pairs, length>(x, block, shared, sync);
  } else {
    split_across<Pairs, length>(x, block, cluster > 1 ? ptx::cluster_rank() : 0, cluster, shared,
                                sync);
  }
}

// The whole pass by blocks that are doing something else, 256 threads of each: they take turns at
// what the pass's blocks would do, by tickets, until none are left. No block waits for one that has
// not begun. `taken` and `done` are zero before. `sync` also orders what they write to shared
// memory. Called by the 256 threads alone; the rest is ptx/tma.hpp's fence and pass_is_done().
template <class Pairs, LineLength length, class Sync>
__device__ __forceinline__ void split_by_tickets(const SplitOperand& a, const SplitOperand& b,
                                                 unsigned* taken, unsigned* done, unsigned* ticket,
                                                 void* shared, Sync& sync) {
  for (;;) {
    if (threadIdx.x == 0) *ticket = atomicAdd(taken, 1u);
    sync();  // all see the ticket
    const unsigned block = *ticket;
    if (block >= a.blocks + b.blocks) return;
    const SplitOperand& x = block < a.blocks ? a : b;
    const unsigned of_operand = block < a.blocks ? block : block - a.blocks;
    if (x.along) {
      split_along<Pairs, length>(x, of_operand, shared, sync);
    } else {
      split_across<Pairs, length>(x, of_operand, 0, 1, shared, sync);
    }
    ptx::fence_async_proxy();  // the copy engine will read what was written
    __threadfence();
    sync();  // all have written, and nobody reads the ticket any more
    if (threadIdx.x == 0) atomicAdd(done, 1u);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
