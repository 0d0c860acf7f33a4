// Bound before: too few bytes under way. At 4.6 TB/s and some 800 ns from memory about 3.7 MB must
// be on their way at any time. That is 28 KB for each of 132 multiprocessors.
// Idea: four loads of 16 bytes in each thread before the first is needed, 512 threads, four blocks
// a multiprocessor: 128 KB. As many blocks as run at once take all values in turns. So partial
// results are few, and one block reduces them in a second launch.
//
// Prediction, for n values and b blocks: n/128 loads of 4 sectors times 4; per block 16 warps with
// 5 shuffles, and 4 more. Accepts: every problem; ends that no vector fits are taken one by one.
// What binds it: memory for large n, the second launch for small ones.

#include "ops/reduce/rung.hpp"

namespace warpladder::reduce {
namespace {

constexpr int kThreads = 512, kInFlight = 4, kMostBlocks = 528;

std::int64_t blocks_for(std::int64_t n) {
  constexpr std::int64_t kPerBlock = 4 * kThreads * kInFlight;
  return n <= kPerBlock                 ? 1
         : n >= kPerBlock * kMostBlocks ? kMostBlocks
                                        : (n + kPerBlock - 1) / kPerBlock;
}

template <class F>
__global__ void __launch_bounds__(kThreads) reduce_elements(Call call, PassEnd<F> end) {
  const auto v = parts::block_reduce<F, kThreads>(
      parts::part_of_line<F, kThreads, kInFlight>(call.in, call.problem.n, blockIdx.x, gridDim.x));
  if (threadIdx.x == 0) end.end(call, v);
}

template <class F>
__global__ void __launch_bounds__(kThreads)
    reduce_partials(Call call, Partials<typename F::Value> from, int count) {
  typename F::Value v = F::none();
  for (int i = threadIdx.x; i < count; i += kThreads) v = F::join(v, from.get(i));
  v = parts::block_reduce<F, kThreads>(v);
  if (threadIdx.x == 0) finish(call, v);
}

void launch(const Call& call, runtime::StreamView& stream) {
  const std::int64_t blocks = blocks_for(call.problem.n);
  parts::for_function(call.problem.function, call.problem.n, [&](auto function) {
    using F = decltype(function);
    const auto partials = partials_in<typename F::Value>(call.scratch);
    runtime::launch(stream, {dim3(static_cast<unsigned>(blocks)), dim3(kThreads)},
                    reduce_elements<F>, call, PassEnd<F>{partials});
    if (blocks == 1) return;
    runtime::launch(stream, {dim3(1), dim3(kThreads)}, reduce_partials<F>, call, partials, blocks);
  });
}

// For up to kMostBlocks blocks.
ladder::Totals predict(const Problem& p) {
  const PartialCosts cost(p.function);
  const std::uint64_t blocks = blocks_for(p.n);
  ladder::Totals t;
  t.global_load_requests = (p.n + 127) / 128;
  t.global_load_sectors = p.n / 8;
  t.global_store_requests = t.global_store_sectors = 1;
  cost.add_block_reduce(t, blocks, kThreads / 32);
  if (blocks == 1) return t;
  t.global_store_requests += blocks;
  t.global_store_sectors += blocks;
  t.global_load_requests += (blocks + 31) / 32;
  t.global_load_sectors += cost.sectors(blocks);
  cost.add_block_reduce(t, 1, kThreads / 32);
  return t;
}

}  // namespace

WARPLADDER_RUNG(06_vector) = {.idea = "four vectors under way in each thread",
                              .accepts = "every problem",
                              .launch = launch,
                              .predict = predict_call<predict>};

}  // namespace warpladder::reduce
