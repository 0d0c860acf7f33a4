#pragma once
// The split pass of a tensor-core product. It writes each line of an operand (row of A, column of
// B) as float pairs (float_pairs.hpp) along k. Each line is multiplied by a power of two, and
// padded with zeros to whole groups. It takes any layout and alignment, and expects nothing of the
// memory that it writes. It reads an operand once up to k = 16,384, twice beyond.
//
// Whether FP16 pairs suffice. Let the largest element of each line lie between 1 and 2, as a scale
// can make it. An element from 2^-17 on keeps all 22 bits. A smaller one has an absolute error of
// at most 2^-40. The pass measures four numbers of a line's elements:
//   S  the share of nonzero elements below 2^-17,
//   L  the share below 2^-8,
//   M  the mean of magnitudes,
//   G  the geometric mean of magnitudes, where less than 2^-29 counts as 2^-29.
//
// The errors of A's small elements meet factors that are below 2, and whose magnitudes add up to
// M(B)·k. So the product's error is at most
//   (min(2·S(A), M(B)) + min(2·S(B), M(A)))·k·2^-40.
// FP16 pairs suffice if that is at most eight roundings (2^-21) of the sum of magnitudes. Three
// rules prove it, whichever elements meet.
// - At least (1 - L(A) - L(B))·k terms are 2^-16 or more. So they suffice if
//     S(A) + S(B) <= 4·(1 - L(A) - L(B)).
//   That serves where zeros are many.
// - A sum is at least its geometric mean times k, and the product's is that of both lines. So the
//   sum of magnitudes is at least (G(A)·G(B) - (M(A) + M(B))·2^-29)·k. That serves where few
//   elements are far above the others. Divided by G(A)·G(B), it needs M / G and 1 / G of a line.
// - The same holds for each piece of 256 along k. So H(A)·g(B), or g(A)·H(B), may stand for
//   G(A)·G(B). H is the mean of a line's pieces' G, and g the least G of an operand's pieces. That
//   serves where one operand's magnitudes differ much along k, as a gradient's do over a
//   vocabulary. Only long lines' pieces are looked at.
//
// Each number's maximum over all lines decides: fits_half_pairs(). Where blocks share a line, its
// parts count as lines do. If the other operand's lines lie in the same parts, the rules hold for
// each part. If they do not, they hold for whole lines with the maxima of M and 1 / G: these bound
// a line's own.

#include "parts/ptx/cluster.hpp"
#include "parts/ptx/tma.hpp"
#include "parts/split/contiguous.hpp"
#include "parts/split/strided.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// The pass as a kernel of its own, for both operands: first the one that takes longer. Short lines
// of both alternate, so that each SM gets some of each.
template <class Pairs, SplitShape shape>
__device__ __forceinline__ void split_block(const SplitOperand& a, const SplitOperand& b,
                                            unsigned cluster, void* shared) {
  const bool b_first = shape != SplitShape::short_lines && a.contiguous && !b.contiguous;
  const unsigned first = b_first ? b.blocks : a.blocks;
  const bool alternate = shape == SplitShape::short_lines && a.blocks == b.blocks;
  const bool is_b = alternate ? blockIdx.x % 2 == 1 : (blockIdx.x < first) == b_first;
  const SplitOperand& x = is_b ? b : a;
  const unsigned block = alternate            ? blockIdx.x / 2
                         : blockIdx.x < first ? blockIdx.x
                                              : blockIdx.x - first;
  BlockSplitSync sync;
  if constexpr (Pairs::kCounted) {
    if (blockIdx.x >= x.first_blocks) sync.vote(x);
  }
  if (x.contiguous) {
    split_contiguous<Pairs, shape>(x, block, x.sharing > 1 ? ptx::cluster_rank() : 0, shared, sync);
  } else {
    split_strided<Pairs, shape>(x, block, cluster > 1 ? ptx::cluster_rank() : 0, cluster, shared,
                                sync);
  }
}

// The pass inside another kernel, by 256 threads of each block: blocks take tickets, one for each
// block of the pass, until none is left. No block waits for one that has not started. `taken` and
// `done` are zero before; wait_for_tickets() waits for all blocks' writes. Called by the 256
// threads.
template <class Pairs, SplitShape shape, class Sync>
__device__ __forceinline__ void split_by_tickets(const SplitOperand& a, const SplitOperand& b,
                                                 unsigned* taken, unsigned* done, unsigned* ticket,
                                                 void* shared, Sync& sync) {
  const unsigned all = a.blocks + b.blocks;
  const bool leads = threadIdx.x == 0;
  unsigned next = 0, finished = 0;
  if (leads) next = atomicAdd(taken, 1u);
  for (;;) {
    if (leads) *ticket = next;
    sync();                                                       // the ticket is visible
    const unsigned block = __shfl_sync(0xffffffffu, *ticket, 0);  // keeps warps converged
    if (block >= all) break;
    if (leads) {
      next = atomicAdd(taken, 1u);  // early, to hide its latency
      ++finished;
    }
    const SplitOperand& x = block < a.blocks ? a : b;
    const unsigned of_operand = block < a.blocks ? block : block - a.blocks;
    if (x.contiguous) {
      split_contiguous<Pairs, shape>(x, of_operand, 0, shared, sync);
    } else {
      split_strided<Pairs, shape>(x, of_operand, 0, 1, shared, sync);
    }
    sync();  // no thread reads the ticket or shared memory any more
  }
  ptx::fence_async_proxy();  // the copy engine will read what was written
  __threadfence();
  sync();  // all threads have written
  if (leads) atomicAdd(done, finished);
}

// Waits until all tickets of all blocks are done. The copy engine may then read what was written.
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
