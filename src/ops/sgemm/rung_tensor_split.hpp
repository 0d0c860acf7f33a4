#pragma once
// How the operands of a product on tensor cores are split in its workspace, and fetched from there.

#include "ops/sgemm/rung.hpp"
#include "parts/float_pairs.hpp"
#include "parts/ptx/cluster.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/ptx/tma.hpp"
#include "parts/split.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// What the blocks of a product hand to each other where they split operands by tickets: into FP16
// pairs and into TF32 pairs; and the most over A's and B's FP16 pairs. Zero before, but `stop`.
struct Handed {
  unsigned taken[2], done[2];
  parts::Spread most[2];
  unsigned stop;  // see parts::kStop; the last, for what is cleared lies in front of it
};
constexpr int kHandedWords = offsetof(Handed, stop) / sizeof(unsigned);
template <class Pairs>
constexpr int kKindOf = Pairs::kNeedsLeast ? 1 : 0;

// A product whose operands the pass of parts/split.hpp writes into its workspace.
struct SplitGemm {
  parts::SplitOperand a, b;
  std::int64_t depth;        // k, padded
  unsigned cluster;          // blocks of the pass
  Handed* handed = nullptr;  // zero after the pass, but `stop`
};

// How long lines are taken to be by the pass in the middle of another kernel.
constexpr parts::LineLength kTicketLength = parts::LineLength::alone;

// How the pass is shared out among blocks; what it writes has no place yet. `in_clusters`: for a
// kernel of the pass's own.
template <class Pairs>
SplitGemm plan_split(const Gemm& g, bool trans_a, bool trans_b, const runtime::Machine& machine,
                     bool in_clusters = true) {
  const std::int64_t depth = parts::padded_depth(g.k), line_bytes = depth * Pairs::kBytes;
  const bool across = trans_a || !trans_b;
  const unsigned cluster = across && in_clusters ? parts::split_cluster(depth) : 1;
  SplitGemm s{{g.a, g.lda, g.m, g.k, !trans_a}, {g.b, g.ldb, g.n, g.k, trans_b}, depth, cluster};
  for (parts::SplitOperand* x : {&s.a, &s.b}) {
    const auto share_out = [&]<parts::LineLength length>() {
      x->first_blocks = machine.multiprocessors * parts::SplitShape<length>::blocks;
      x->blocks = parts::split_blocks<length>(x->lines, depth, x->along, cluster);
      x->span = parts::split_span<length>(depth, cluster);
    };
    if (in_clusters) {
      parts::with_length(depth, share_out);
    } else {
      share_out.template operator()<kTicketLength>();
    }
  }
  s.a.line_bytes = s.b.line_bytes = line_bytes;
  return s;
}

// The same, with places in the product's workspace.
template <class Pairs>
SplitGemm split_of(const Gemm& g, bool trans_a, bool trans_b, const runtime::Machine& machine,
                   bool in_clusters = true) {
  SplitGemm s = plan_split<Pairs>(g, trans_a, trans_b, machine, in_clusters);
  auto* at = static_cast<unsigned char*>(g.workspace);
  const auto take = [&](std::int64_t bytes) {
    unsigned char* const taken = at;
    at += (bytes + 255) / 256 * 256;
    return taken;
  };
  s.handed = reinterpret_cast<Handed*>(take(sizeof(Handed)));
  s.a.stop = s.b.stop = &s.handed->stop;
  // One kind of pairs has its own factors: the other's are still read while it is written.
  constexpr std::int64_t kBlocksMore = 2 * 16;  // than lines, for clusters are whole
  unsigned char* factors[2];
  for (unsigned char*& of_kind : factors) of_kind = take((g.m + g.n + 2) * sizeof(float));
  s.a.factor = reinterpret_cast<float*>(factors[kKindOf<Pairs>]);
  s.b.factor = s.a.factor + g.m + g.m % 2;
  s.a.spread =
      reinterpret_cast<parts::Spread*>(take((g.m + g.n + kBlocksMore) * sizeof(parts::Spread)));
  s.b.spread = s.a.spread + s.a.blocks;
  s.a.pairs = take(g.m * s.a.line_bytes);
  s.b.pairs = take(g.n * s.b.line_bytes);
  return s;
}

// Each rung has its own, so that what is counted in it is the rung's. What is in front of it may
// still run when its blocks are launched, and they wait for that: a product on an earlier product's
// heels saves the launch's latency.
template <class Pairs, parts::LineLength length>
static __global__ void __launch_bounds__(parts::kSplitThreads, parts::SplitShape<length>::blocks)
    split(SplitGemm s) {
  ptx::allow_next_kernel();
  ptx::wait_for_previous_kernel();
  if (blockIdx.x == 0 && threadIdx.x < kHandedWords) {
    reinterpret_cast<unsigned*>(s.handed)[threadIdx.x] = 0;
  }
  parts::split_block<Pairs, length>(s.a, s.b, s.cluster, runtime::dynamic_shared<unsigned char>());
}

// Which operands to split; the other has been split before, in the same workspace.
enum class Operands { both, a, b };
template <class Pairs>
static SplitGemm launch_split(const Gemm& g, bool trans_a, bool trans_b,
                              runtime::StreamView& stream, Operands which = Operands::both) {
  const SplitGemm s = split_of<Pairs>(g, trans_a, trans_b, *stream.machine);
  SplitGemm now = s;
  if (which == Operands::b) now.a.blocks = 0;
  if (which == Operands::a) now.b.blocks = 0;
  // Where two blocks a multiprocessor are enough, as much as leaves no room for a third: blocks
  // that come while others still run would gather where there is room first.
  constexpr std::size_t kRoomForTwo = 76 << 10;
  const auto multiprocessors = static_cast<unsigned>(stream.machine->multiprocessors);
  parts::with_length(s.depth, [&]<parts::LineLength length>() {
    const unsigned blocks = now.a.blocks + now.b.blocks;
    std::size_t shared = sizeof(parts::SplitShared<length>);
    if (blocks <= 2 * multiprocessors && shared < kRoomForTwo) shared = kRoomForTwo;
    const runtime::LaunchShape shape{dim3(blocks), dim3(parts::kSplitThreads), shared, s.cluster,
                                     true};
    runtime::launch(stream, shape, split<Pairs, length>, now);
  });
  return s;
}

// The pass in the middle of another kernel: see parts/split.hpp.
template <class Pairs, class Crew>
__device__ __forceinline__ void split_by_tickets(const SplitGemm& s, unsigned* ticket, void* shared,
                                                 Crew& crew) {
  constexpr int kKind = kKindOf<Pairs>;
  parts::split_by_tickets<Pairs, kTicketLength>(s.a, s.b, &s.handed->taken[kKind],
                                                &s.handed->done[kKind], ticket, shared, crew);
}
template <class Pairs>
__device__ __forceinline__ void wait_for_tickets(const SplitGemm& s) {
  parts::wait_for_tickets(s.a, s.b, &s.handed->done[kKindOf<Pairs>]);
}

// Groups along k, padding and all.
template <class Pairs>
std::int64_t padded_groups(std::int64_t k) {
  return parts::padded_depth(k) / Pairs::kDepth;
}
// Those that are not padding alone, at least the two that are promoted together.
template <class Pairs>
__host__ __device__ __forceinline__ int groups_of(std::int64_t k) {
  const int groups = static_cast<int>((k + Pairs::kDepth - 1) / Pairs::kDepth);
  return groups < 2 ? 2 : groups;
}

// The map of a split operand, in boxes of so many lines.
inline runtime::TensorMap map_of(const parts::SplitOperand& x, int box_lines,
                                 runtime::StreamView& stream) {
  const std::int64_t floats = x.line_bytes / 4;  // two halves are copied like a float
  return runtime::encode(stream, {x.pairs, 4, x.lines, floats, floats, box_lines});
}

// Has the copy engine bring a tile's lines from `line` on, group `group` of each, to `to`. Each of
// the kCluster blocks that want the same lines fetches its share of them for all. Called by one
// thread.
template <int kCluster>
__device__ __forceinline__ void fetch(unsigned char* to, const runtime::TensorMap& map,
                                      ptx::Barrier* full, std::int64_t line, int group,
                                      int share = 0, unsigned rank = 0) {
  constexpr int kFloatsOfGroup = 32;
  if constexpr (kCluster > 1) {
    const int mine = static_cast<int>(rank) * share;
    ptx::tma_load_multicast(to + mine * 128, map, full, static_cast<int>(line) + mine,
                            group * kFloatsOfGroup, (1u << kCluster) - 1);
  } else {
    ptx::tma_load(to, map, full, static_cast<int>(line), group * kFloatsOfGroup);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
