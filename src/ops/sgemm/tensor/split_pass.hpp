#pragma once
// The pass that splits A and B into float pairs. It is a kernel of its own in front of the product,
// or runs by tickets inside it. parts/split.hpp holds the device code.

#include "ops/sgemm/tensor/workspace.hpp"
#include "parts/ptx/dependent_launch.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// `static`: each rung counts its own pass. The blocks may start before the previous kernel ends and
// then wait for it, which hides the launch latency of products in a row.
template <class Pairs, parts::SplitShape shape>
static __global__ void __launch_bounds__(parts::kSplitThreads, parts::SplitTraits<shape>::blocks)
    split(SplitGemm s) {
  ptx::allow_next_kernel();
  ptx::wait_for_previous_kernel();
  if (blockIdx.x == 0 && threadIdx.x < kSplitStateWords) {
    reinterpret_cast<unsigned*>(s.state)[threadIdx.x] = 0;
  }
  parts::split_block<Pairs, shape>(s.a, s.b, s.cluster, runtime::dynamic_shared<unsigned char>());
}

// Which operands to split. The other one was split earlier, into the same workspace.
enum class Operands { both, a, b };

// Launches the blocks of `s`, in clusters of this size.
template <class Pairs>
static void launch_pass_in(unsigned cluster, const SplitGemm& s, runtime::StreamView& stream) {
  // If two blocks per SM suffice, ask for enough shared memory to keep a third one out. Otherwise
  // blocks that start during the previous kernel crowd onto the SMs that are free first.
  constexpr std::size_t kRoomForTwo = 76 << 10;
  const auto multiprocessors = static_cast<unsigned>(stream.machine->multiprocessors);
  parts::with_split_shape(s.depth, [&]<parts::SplitShape shape>() {
    const unsigned blocks = s.a.blocks + s.b.blocks;
    if (blocks == 0) return;
    std::size_t shared = sizeof(parts::SplitShared<shape>);
    if (blocks <= 2 * multiprocessors && shared < kRoomForTwo) shared = kRoomForTwo;
    const runtime::LaunchShape launch_shape{dim3(blocks), dim3(parts::kSplitThreads), shared,
                                            cluster, true};
    runtime::launch(stream, launch_shape, split<Pairs, shape>, s);
  });
}

// Launches the pass over the operands of `s` that have blocks. Contiguous lines that blocks share
// and strided ones need clusters of different sizes, and so launches of their own.
template <class Pairs>
static void launch_pass(const SplitGemm& s, runtime::StreamView& stream) {
  if (!launches_apart(s)) {
    launch_pass_in<Pairs>(std::max(s.cluster, sharing_of(s)), s, stream);
    return;
  }
  SplitGemm contiguous = s, strided = s;
  (s.a.contiguous ? strided.a : contiguous.a).blocks = 0;
  (s.b.contiguous ? strided.b : contiguous.b).blocks = 0;
  launch_pass_in<Pairs>(sharing_of(s), contiguous, stream);
  launch_pass_in<Pairs>(s.cluster, strided, stream);
}

template <class Pairs>
static SplitGemm launch_split(const Gemm& g, bool trans_a, bool trans_b,
                              runtime::StreamView& stream, Operands which = Operands::both) {
  const SplitGemm s = split_in_workspace<Pairs>(g, trans_a, trans_b, *stream.machine);
  SplitGemm now = s;
  if (which == Operands::b) now.a.blocks = 0;
  if (which == Operands::a) now.b.blocks = 0;
  launch_pass<Pairs>(now, stream);
  return s;
}

// The pass inside another kernel: see parts/split.hpp.
template <class Pairs, class Sync>
__device__ WARPLADDER_INLINE_ON_GPU void split_by_tickets(const SplitGemm& s, unsigned* ticket,
                                                          void* shared, Sync& sync) {
  parts::split_by_tickets<Pairs, kTicketShape>(s.a, s.b, &s.state->taken, &s.state->done, ticket,
                                               shared, sync);
}
__device__ __forceinline__ void wait_for_tickets(const SplitGemm& s) {
  parts::wait_for_tickets(s.a, s.b, &s.state->done);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
