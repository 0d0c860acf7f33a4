// Bound before: half of the threads work in the first round, and fewer in each that follows.
// Idea: join two values on the way in. A block of as many threads takes 512 values, so that there
// are half as many blocks, trees and barriers for the same loads.
//
// Prediction, of a block: the shared accesses and barriers of 02, for twice as many values.
// Accepts: every problem. What binds it: barriers in rounds that a single warp works in.

#include "ops/reduce/rung.hpp"

namespace warpladder::reduce {
namespace {

constexpr int kThreads = 256, kPerBlock = 2 * kThreads;

template <class F, class Source>
__global__ void __launch_bounds__(kThreads)
    reduce(Call call, Source from, std::int64_t count, PassEnd<F> end) {
  __shared__ typename F::Value partial[kThreads];
  const int t = threadIdx.x;
  const std::int64_t i = std::int64_t{blockIdx.x} * kPerBlock + t;
  typename F::Value v = i < count ? from.get(i) : F::none();
  if (i + kThreads < count) v = F::join(v, from.get(i + kThreads));
  partial[t] = v;
  __syncthreads();  // all values are there before the first round
  for (int s = kThreads / 2; s > 0; s /= 2) {
    if (t < s) partial[t] = F::join(partial[t], partial[t + s]);
    __syncthreads();  // a round is over before the next one reads what it left
  }
  if (t == 0) end.end(call, partial[0]);
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_passes<kThreads, kPerBlock>(call, stream, [](auto function, auto from) {
    return reduce<decltype(function), decltype(from)>;
  });
}

ladder::Totals predict(const Problem& p) {
  return predict_trees<kPerBlock>(p,
                                  [](ladder::Totals& t, std::uint64_t blocks, PartialCosts cost) {
                                    // 4 + 2 + 1 rounds of whole warps, then 5 of ever fewer lanes.
                                    cost.add_shared_loads(t, blocks * 2 * 7, blocks * (2 * 5 + 1));
                                    cost.add_shared_stores(t, blocks * (8 + 7), blocks * 5);
                                    t.barriers += blocks * 8 * 9;
                                  });
}

}  // namespace

WARPLADDER_RUNG(03_first_add_on_load) = {.idea = "two values joined on the way in",
                                         .accepts = "every problem",
                                         .launch = launch,
                                         .predict = predict_call<predict>};

}  // namespace warpladder::reduce
