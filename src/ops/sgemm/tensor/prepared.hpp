#pragma once
// An operand that is split once for many products, into both kinds of pairs, and a product that
// splits the other operand alone. A prepared operand is only read by products, so that any number
// of them may run at the same time. What a product writes lies in its own workspace.

#include "ops/sgemm/tensor/split_pass.hpp"
#include "ops/sgemm/tensor/workspace.hpp"
#include "parts/ptx/dependent_launch.hpp"
#include "parts/split.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Clusters are whole, so the pass may have more blocks than lines.
constexpr std::int64_t kExtraBlocksOfPass = 16;

// Hands out memory in parts that begin at multiples of 256.
struct MemoryParts {
  unsigned char* free;
  template <class T>
  T* take(std::int64_t count) {
    auto* const taken = reinterpret_cast<T*>(free);
    free += (count * static_cast<std::int64_t>(sizeof(T)) + 255) / 256 * 256;
    return taken;
  }
};

// Where a prepared operand of so many lines keeps what. Arrays of two: FP16 pairs, TF32 pairs.
struct PreparedOperand {
  SplitState* state;                 // of the pass
  parts::StoredLoss* loss;           // of FP16 pairs, over all lines
  parts::StoredLoss* loss_of_block;  // of the pass
  float* factor[2];
  unsigned char* pairs[2];

  PreparedOperand(void* memory, std::int64_t lines, std::int64_t k) {
    MemoryParts parts{static_cast<unsigned char*>(memory)};
    state = parts.take<SplitState>(1);
    loss = parts.take<parts::StoredLoss>(1);
    loss_of_block = parts.take<parts::StoredLoss>(lines + kExtraBlocksOfPass);
    const std::int64_t depth = parts::padded_depth(k);
    factor[kKindOf<parts::HalfPairs>] = parts.take<float>(lines + 1);
    factor[kKindOf<parts::Tf32Pairs>] = parts.take<float>(lines + 1);
    pairs[kKindOf<parts::HalfPairs>] =
        parts.take<unsigned char>(lines * depth * parts::HalfPairs::kBytes);
    pairs[kKindOf<parts::Tf32Pairs>] =
        parts.take<unsigned char>(lines * depth * parts::Tf32Pairs::kBytes);
  }
};

inline Operands other(Operands which) { return which == Operands::a ? Operands::b : Operands::a; }
inline parts::SplitOperand& operand_of(SplitGemm& s, Operands which) {
  return which == Operands::a ? s.a : s.b;
}

// The pass over one operand alone. Only that one's layout decides on clusters.
template <class Pairs>
SplitGemm plan_split_of(const Gemm& g, bool trans_a, bool trans_b, Operands which,
                        const runtime::Machine& machine, SplitPass pass) {
  SplitGemm s = plan_split<Pairs>(g, which == Operands::a && trans_a,
                                  which == Operands::a || trans_b, machine, pass);
  s.a.contiguous = !trans_a;  // as FP32 arithmetic reads them, where no pairs suffice
  s.b.contiguous = trans_b;
  operand_of(s, other(which)).blocks = 0;
  operand_of(s, other(which)).sharing = 1;
  return s;
}

// A product with a prepared operand: the pass splits operand `which` into the workspace.
template <class Pairs>
SplitGemm split_beside_prepared(const Gemm& g, bool trans_a, bool trans_b, Operands which,
                                void* prepared, const runtime::Machine& machine, SplitPass pass) {
  SplitGemm s = plan_split_of<Pairs>(g, trans_a, trans_b, which, machine, pass);
  MemoryParts parts{static_cast<unsigned char*>(g.workspace)};
  parts::SplitOperand& now = operand_of(s, which);
  s.state = parts.take<SplitState>(1);
  now.stop = &s.state->stop;
  float* factors[2];  // each kind has its own: one is still read while the other is written
  for (float*& of_kind : factors) of_kind = parts.take<float>(now.lines + 1);
  now.factor = factors[kKindOf<Pairs>];
  now.loss = parts.take<parts::StoredLoss>(now.lines + kExtraBlocksOfPass);
  now.pairs = parts.take<unsigned char>(now.lines * now.line_bytes);
  parts::SplitOperand& before = operand_of(s, other(which));
  const PreparedOperand kept(prepared, before.lines, g.k);
  before.factor = kept.factor[kKindOf<Pairs>];
  before.loss = kept.loss;
  before.pairs = kept.pairs[kKindOf<Pairs>];
  return s;
}

// Splits operand `which` into one kind of pairs, kept in `prepared`.
template <class Pairs>
static parts::SplitOperand launch_preparing_pass(const Gemm& g, bool trans_a, bool trans_b,
                                                 Operands which, const PreparedOperand& prepared,
                                                 runtime::StreamView& stream) {
  SplitGemm s =
      plan_split_of<Pairs>(g, trans_a, trans_b, which, *stream.machine, SplitPass::own_kernel);
  s.state = prepared.state;
  parts::SplitOperand& x = operand_of(s, which);
  x.factor = prepared.factor[kKindOf<Pairs>];
  x.loss = prepared.loss_of_block;
  x.pairs = prepared.pairs[kKindOf<Pairs>];
  x.first_blocks = ~0u;  // no block leaves early: nothing clears the word that tells it to
  launch_pass<Pairs>(s, stream);
  return x;
}

// What FP16 pairs lose of an operand: the maxima over the blocks of its pass. One block.
constexpr int kCollectThreads = 256;
static __global__ void __launch_bounds__(kCollectThreads)
    collect_losses(parts::SplitOperand x, parts::StoredLoss* loss) {
  __shared__ parts::PrecisionLoss most[2];
  ptx::allow_next_kernel();
  ptx::wait_for_previous_kernel();
  if (threadIdx.x < 2) most[threadIdx.x] = {};
  __syncthreads();  // the maxima are zero
  parts::SplitOperand none = x;
  none.blocks = 0;
  parts::gather_losses<kCollectThreads>(x, none, static_cast<int>(threadIdx.x), most);
  __syncthreads();  // all warps have added their maxima
  if (threadIdx.x == 0) *loss = most[0].stored();
}

// Splits operand `which` into both kinds of pairs.
static inline void prepare_operand(const Gemm& g, bool trans_a, bool trans_b, Operands which,
                                   void* memory, runtime::StreamView& stream) {
  const PreparedOperand prepared(memory, which == Operands::a ? g.m : g.n, g.k);
  const parts::SplitOperand halves =
      launch_preparing_pass<parts::HalfPairs>(g, trans_a, trans_b, which, prepared, stream);
  runtime::launch(stream, {dim3(1), dim3(kCollectThreads), 0, 1, true}, collect_losses, halves,
                  prepared.loss);
  launch_preparing_pass<parts::Tf32Pairs>(g, trans_a, trans_b, which, prepared, stream);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
