// Bound before: every value goes through shared memory, and every round waits for it.
// Idea: lanes of a warp hand each other registers. Five shuffles reduce a warp without memory or
// barrier. Eight warps leave a value each in shared memory, and after one barrier the first warp
// reduces those with three more.
//
// Prediction, of a block: 8·5 + 3 shuffles, 8 shared stores, a load, one barrier. For places it is
// 8·2 + 3 shuffles: of whole warps two instructions find the best rank and its first index.
// Accepts: every problem.
// What binds it: one or two loads under way in each thread do not keep memory busy.

#include "ops/reduce/rung.hpp"

namespace warpladder::reduce {
namespace {

constexpr int kThreads = 256, kPerBlock = 2 * kThreads;

template <class F, class Source>
__global__ void __launch_bounds__(kThreads)
    reduce(Call call, Source from, std::int64_t count, PassEnd<F> end) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kPerBlock + threadIdx.x;
  typename F::Value v = i < count ? from.get(i) : F::none();
  if (i + kThreads < count) v = F::join(v, from.get(i + kThreads));
  v = parts::block_reduce<F, kThreads>(v);
  if (threadIdx.x == 0) end.end(call, v);
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_passes<kThreads, kPerBlock>(call, stream, [](auto function, auto from) {
    return reduce<decltype(function), decltype(from)>;
  });
}

ladder::Totals predict(const Problem& p) {
  return predict_trees<kPerBlock>(p,
                                  [](ladder::Totals& t, std::uint64_t blocks, PartialCosts cost) {
                                    cost.add_block_reduce(t, blocks, kThreads / 32);
                                  });
}

}  // namespace

WARPLADDER_RUNG(05_shuffle) = {.idea = "lanes hand each other registers",
                               .accepts = "every problem",
                               .launch = launch,
                               .predict = predict_call<predict>};

}  // namespace warpladder::reduce
