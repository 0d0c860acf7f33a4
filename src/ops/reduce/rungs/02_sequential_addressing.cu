// Bound before: in every round but the last ones all warps run, most of their lanes idle.
// Idea: let the first threads do the work. A round folds the upper half of what is left onto the
// lower half. So the lanes of a warp work together, or the warp has nothing to do.
//
// Prediction, of a block: 4 + 2 + 1·6 = 12 warp-rounds instead of 47, neighbouring lanes on
// neighbouring banks, as before. Accepts: every problem. What binds it: barriers, and a load that
// nothing is done with but to store it.

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
  for (int s = kThreads / 2; s > 0; s /= 2) {
    if (t < s) partial[t] = F::join(partial[t], partial[t + s]);
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
    // 4 + 2 + 1 rounds of whole warps, then 5 of ever fewer lanes.
    cost.add_shared_loads(t, blocks * 2 * 7, blocks * (2 * 5 + 1));
    cost.add_shared_stores(t, blocks * (8 + 7), blocks * 5);
    t.barriers += blocks * 8 * 9;
  });
}

}  // namespace

WARPLADDER_RUNG(02_sequential_addressing) = {
    .idea = "the first threads fold the upper half onto the lower",
    .accepts = "every problem",
    .launch = launch,
    .predict = predict_call<predict>};

}  // namespace warpladder::reduce
