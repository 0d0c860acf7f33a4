// Bound before: the last six rounds need one warp, yet all eight wait at six barriers for it.
// Idea: that warp goes on alone. Its lanes run together, so that __syncwarp() is enough between two
// rounds; the loop has a constant count and is written out.
//
// Prediction, of a block: 3 barriers instead of 9; of the last six rounds a load, a store and two
// warp barriers each. Accepts: every problem. What binds it: shared memory in the middle of what
// lanes could tell each other directly.

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
  for (int s = kThreads / 2; s > 32; s /= 2) {
    if (t < s) {
      v = F::join(v, partial[t + s]);
      partial[t] = v;
    }
    __syncthreads();  // a round is over before the next one reads what it left
  }
  if (t >= 32) return;
  WARPLADDER_UNROLL
  for (int s = 32; s > 0; s /= 2) {
    v = F::join(v, partial[t + s]);
    __syncwarp();  // all lanes have read before any writes over it
    partial[t] = v;
    __syncwarp();  // and all have written before any reads again
  }
  if (t == 0) end.end(call, v);
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_passes<kThreads, kPerBlock>(call, stream, [](auto function, auto from) {
    return reduce<decltype(function), decltype(from)>;
  });
}

ladder::Totals predict(const Problem& p) {
  return predict_trees<kPerBlock>(p,
                                  [](ladder::Totals& t, std::uint64_t blocks, PartialCosts cost) {
                                    // 4 + 2 + 6 rounds, all of whole warps.
                                    cost.add_shared_loads(t, blocks * 12, 0);
                                    cost.add_shared_stores(t, blocks * (8 + 12), 0);
                                    t.barriers += blocks * 8 * 3;
                                  });
}

}  // namespace

WARPLADDER_RUNG(04_unrolled_warp) = {.idea = "the last warp goes on without the block's barriers",
                                     .accepts = "every problem",
                                     .launch = launch,
                                     .predict = predict_call<predict>};

}  // namespace warpladder::reduce
