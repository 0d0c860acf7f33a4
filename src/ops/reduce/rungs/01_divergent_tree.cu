// The start: a tree in shared memory, as it is drawn. Each block takes 256 values; in every round
// the threads whose number is a multiple of 2·s add what lies s further on. What the blocks leave
// goes the same way in the next launch, until one value is left.
//
// Prediction, of a block: in the first five rounds every warp still runs, with ever fewer of its
// lanes. That is 8 warps × 5 rounds, then 4, 2 and 1: 47 warp-rounds of two loads and a store. 255
// additions would fill 8 warp-rounds. A warp has 9 barriers. Accepts: every problem. What binds it:
// barriers and half-empty warps, not memory.

#include "ops/reduce/rung.hpp"

namespace warpladder::reduce {
namespace {

constexpr int kThreads = 256;

template <class F, class Source>
__global__ void __launch_bounds__(kThreads)
    reduce(Call call, Source from, std::int64_t count, PassEnd<F> end) {
  __shared__ typename F::Value partial[kThreads];
  const int t = threadIdx.x;
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + t;
  partial[t] = i < count ? from.get(i) : F::none();
  __syncthreads();  // all values are there before the first round
  for (int s = 1; s < kThreads; s *= 2) {
    if (t % (2 * s) == 0) partial[t] = F::join(partial[t], partial[t + s]);
    __syncthreads();  // a round is over before the next one reads what it left
  }
  if (t == 0) end.end(call, partial[0]);
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_passes<kThreads, kThreads>(call, stream, [](auto function, auto from) {
    return reduce<decltype(function), decltype(from)>;
  });
}

ladder::Totals predict(const Problem& p) {
  return predict_trees<kThreads>(p, [](ladder::Totals& t, std::uint64_t blocks, PartialCosts cost) {
    // Of 47 rounds 15 have one lane a warp.
    const std::uint64_t rounds = 47, narrow = 15;
    cost.add_shared_loads(t, blocks * 2 * (rounds - narrow), blocks * (2 * narrow + 1));
    cost.add_shared_stores(t, blocks * (8 + rounds - narrow), blocks * narrow);
    t.barriers += blocks * 8 * 9;
  });
}

}  // namespace

WARPLADDER_RUNG(01_divergent_tree) = {.idea = "a tree in shared memory, as it is drawn",
                                      .accepts = "every problem",
                                      .launch = launch,
                                      .predict = predict_call<predict>};

}  // namespace warpladder::reduce
