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
// Most of each over all lines and pieces decides: see fits_half_pairs(). Blocks that begin
// behind the first ones, when some block has counted more than pairs hold, leave their part as it
// is.

#include "parts/ptx/cluster.hpp"
#include "parts/ptx/tma.hpp"
#include "parts/split/across.hpp"
#include "parts/split/along.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Both operands in one launch, first the one that takes longer; short lines of both in turns, so
// that a multiprocessor has some of each.
template <class Pairs, LineLength length>
__device__ __forceinline__ void split_block(const SplitOperand& a, const SplitOperand& b,
                                            unsigned cluster, void* shared) {
  const bool b_first = length != LineLength::brief && a.along && !b.along;
  const unsigned first = b_first ? b.blocks : a.blocks;
  const bool in_turns = length == LineLength::brief && a.blocks == b.blocks;
  const bool is_b = in_turns ? blockIdx.x % 2 == 1 : (blockIdx.x < first) == b_first;
  const SplitOperand& x = is_b ? b : a;
  const unsigned block = in_turns             ? blockIdx.x / 2
                         : blockIdx.x < first ? blockIdx.x
                                              : blockIdx.x - first;
  BlockCrew crew;
  if constexpr (Pairs::kCounted) {
    if (blockIdx.x >= x.first_blocks) crew.decide(x);
  }
  if (x.along) {
    split_along<Pairs, length>(x, block, shared, crew);
  } else {
    split_across<Pairs, length>(x, block, cluster > 1 ? ptx::cluster_rank() : 0, cluster, shared,
                                crew);
  }
}

// The whole pass by blocks that are doing something else, 256 threads of each: they take turns at
// what the pass's blocks would do, by tickets, until none are left or the crew has had enough. No
// block waits for one that has not begun. `taken` and `done` are zero before; where `done` says
// all, whatever was written can be read behind wait_for_tickets(). Beside what BlockCrew does the
// crew looks now and then (look(), by one thread) whether it has_enough(). Called by the 256
// threads.
template <class Pairs, LineLength length, class Crew>
__device__ __forceinline__ void split_by_tickets(const SplitOperand& a, const SplitOperand& b,
                                                 unsigned* taken, unsigned* done, unsigned* ticket,
                                                 void* shared, Crew& crew) {
  const unsigned all = a.blocks + b.blocks;
  const bool leads = threadIdx.x == 0;
  unsigned next = 0, finished = 0;
  bool enough = false;
  if (leads) next = atomicAdd(taken, 1u);
  for (;;) {
    if (leads) *ticket = next;
    crew();                                                       // all see the ticket
    const unsigned block = __shfl_sync(0xffffffffu, *ticket, 0);  // a warp's lanes go one way
    if (block >= all) break;
    if (leads) {
      next = atomicAdd(taken, 1u);  // will be known when it is needed
      crew.look();
      ++finished;
    }
    const SplitOperand& x = block < a.blocks ? a : b;
    const unsigned of_operand = block < a.blocks ? block : block - a.blocks;
    if (x.along) {
      split_along<Pairs, length>(x, of_operand, shared, crew);
    } else {
      split_across<Pairs, length>(x, of_operand, 0, 1, shared, crew);
    }
    if (leads && crew.has_enough()) {
      enough = true;
      if (next < all) ++finished;  // though nothing was done for it
      next = all;
    }
    crew();  // nobody reads the ticket any more, nor what is shared
  }
  ptx::fence_async_proxy();  // the copy engine will read what was written
  __threadfence();
  crew();  // all have written
  if (!leads) return;
  if (enough) {  // nobody shall take another
    const unsigned before = atomicExch(taken, all);
    if (before < all) finished += all - before;
  }
  atomicAdd(done, finished);
}

// Until all tickets are done, wherever that may be; then the copy engine may read what was written.
// Called by one thread.
__device__ __forceinline__ void wait_for_tickets(const SplitOperand& a, const SplitOperand& b,
                                                 unsigned* done) {
  while (atomicAdd(done, 0u) < a.blocks + b.blocks) {
  }
  __threadfence();
  ptx::fence_async_proxy();
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
