#pragma once
// What a tensor-core product keeps in its workspace. It holds operands as float pairs, one scale
// factor per line (row of A, column of B), and the counters that its thread blocks share. The split
// pass writes it, the product reads it.

#include <algorithm>

#include "ops/sgemm/rung.hpp"
#include "parts/split.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Whether FP16 pairs suffice.
constexpr unsigned kFits = 1, kDoesNotFit = 2;

// What thread blocks of a product share. All is zero before it, but perhaps `stop`.
struct SplitState {
  unsigned taken, done;  // tickets of the pass inside the product
  unsigned verdict;      // kFits, kDoesNotFit; 0: not yet known
  unsigned stop;         // see parts::kStop
};
constexpr int kSplitStateWords = sizeof(SplitState) / sizeof(unsigned);
template <class Pairs>
constexpr int kKindOf = Pairs::kNeedsLeast ? 1 : 0;

// A product whose operands the split pass (parts/split.hpp) writes into the workspace.
struct SplitGemm {
  parts::SplitOperand a, b;
  std::int64_t depth;           // k, padded
  unsigned cluster;             // cluster size of the pass over strided lines
  SplitState* state = nullptr;  // zero after the pass, but perhaps `stop`
};

// How many blocks share a contiguous line, of either operand.
inline unsigned sharing_of(const SplitGemm& s) { return std::max(s.a.sharing, s.b.sharing); }
inline bool launches_apart(const SplitGemm& s) { return sharing_of(s) > 1 && s.cluster > 1; }

// The shape of a pass inside another kernel.
constexpr parts::SplitShape kTicketShape = parts::SplitShape::one_block_per_sm;

enum class SplitPass { own_kernel, by_tickets };

// Shares the pass out among thread blocks. Assigns no memory yet.
template <class Pairs>
SplitGemm plan_split(const Gemm& g, bool trans_a, bool trans_b, const runtime::Machine& machine,
                     SplitPass pass = SplitPass::own_kernel) {
  const bool own_kernel = pass == SplitPass::own_kernel;
  const std::int64_t depth = parts::padded_depth(g.k), line_bytes = depth * Pairs::kBytes;
  const bool any_strided = trans_a || !trans_b;
  const unsigned cluster = any_strided && own_kernel ? parts::split_cluster(depth, machine) : 1;
  SplitGemm s{{g.a, g.lda, g.m, g.k, !trans_a}, {g.b, g.ldb, g.n, g.k, trans_b}, depth, cluster};
  for (parts::SplitOperand* x : {&s.a, &s.b}) {
    const bool may_share = own_kernel && x->contiguous && machine.clusters_of(2) > 0;
    if (may_share) x->sharing = parts::blocks_of_contiguous_line(depth);
    const auto share_out = [&]<parts::SplitShape shape>() {
      x->first_blocks = machine.multiprocessors * parts::SplitTraits<shape>::blocks;
      x->blocks = parts::split_blocks<shape>(x->lines, depth, x->contiguous, cluster, x->sharing);
      x->span = parts::split_span<shape>(depth, cluster);
    };
    if (own_kernel) {
      parts::with_split_shape(depth, share_out);
    } else {
      share_out.template operator()<kTicketShape>();
    }
  }
  s.a.line_bytes = s.b.line_bytes = line_bytes;
  return s;
}

// The same plan with its parts of the workspace assigned.
template <class Pairs>
SplitGemm split_in_workspace(const Gemm& g, bool trans_a, bool trans_b,
                             const runtime::Machine& machine,
                             SplitPass pass = SplitPass::own_kernel) {
  SplitGemm s = plan_split<Pairs>(g, trans_a, trans_b, machine, pass);
  auto* free = static_cast<unsigned char*>(g.workspace);
  const auto take = [&](std::int64_t bytes) {
    unsigned char* const taken = free;
    free += (bytes + 255) / 256 * 256;
    return taken;
  };
  s.state = reinterpret_cast<SplitState*>(take(sizeof(SplitState)));
  s.a.stop = s.b.stop = &s.state->stop;
  // Each kind of pairs has its own factors: one kind is still read while the other is written.
  unsigned char* factors[2];
  for (unsigned char*& of_kind : factors) of_kind = take((g.m + g.n + 2) * sizeof(float));
  s.a.factor = reinterpret_cast<float*>(factors[kKindOf<Pairs>]);
  s.b.factor = s.a.factor + g.m + g.m % 2;
  // Clusters are whole, so the pass may have more blocks than lines.
  constexpr std::int64_t kExtraBlocks = 2 * 16;
  s.a.loss = reinterpret_cast<parts::StoredLoss*>(
      take((g.m + g.n + kExtraBlocks) * sizeof(parts::StoredLoss)));
  s.b.loss = s.a.loss + s.a.losses();
  s.a.pairs = take(g.m * s.a.line_bytes);
  s.b.pairs = take(g.n * s.b.line_bytes);
  return s;
}

// Groups along k, padding included.
template <class Pairs>
std::int64_t padded_groups(std::int64_t k) {
  return parts::padded_depth(k) / Pairs::kDepth;
}
// Groups that hold elements of k; at least two, because two are promoted together.
template <class Pairs>
__host__ __device__ __forceinline__ int groups_of(std::int64_t k) {
  const int groups = static_cast<int>((k + Pairs::kDepth - 1) / Pairs::kDepth);
  return groups < 2 ? 2 : groups;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
