// Bound before: below some millions of values the time is a chain of latencies: launch, load,
// block, flags, block. One shape of kernel cannot keep each of them short.
// Idea: as many threads as the values need and no more. Up to 2^15 values one block has them all
// under way at once, and there are no flags. Up to 2^22 up to 256 blocks have, so that no load
// waits for another, and one warp collects. Above, there are two and then four blocks of 07 a
// multiprocessor.
//
// Prediction: of one block its loads and one reduction; else as 07, but one warp that collects up
// to 2^22. Accepts: every problem. What binds it: the launch, up to some thousands of values;
// from 2^24 on memory.

#include "ops/reduce/rung.hpp"

namespace warpladder::reduce {
namespace {

struct Config {
  int threads, in_flight, blocks;
};
Config config_for(std::int64_t n, const runtime::Machine& machine) {
  if (n <= 128) return {32, 1, 1};
  if (n <= 256) return {32, 2, 1};
  if (n <= 512) return {64, 2, 1};
  if (n <= 1024) return {256, 1, 1};
  if (n <= 4096) return {512, 2, 1};
  if (n <= 8192) return {512, 4, 1};
  if (n <= 16384) return {512, 8, 1};
  if (n <= 32768) return {1024, 8, 1};
  for (const int in_flight : {1, 2, 4, 8}) {
    const std::int64_t per_block = 4 * 512 * in_flight;
    if (n <= per_block * (in_flight == 1 ? 64 : 256)) {
      return {512, in_flight, static_cast<int>((n + per_block - 1) / per_block)};
    }
  }
  return {512, 4, blocks_at_once(n <= 1 << 23 ? 2 : 4, machine)};
}

template <class F, int kThreads, int kInFlight>
__global__ void __launch_bounds__(kThreads) one_block(Call call) {
  const auto v = parts::block_reduce<F, kThreads>(
      parts::part_at_once<F, kThreads, kInFlight>(call.in, static_cast<int>(call.problem.n)));
  if (threadIdx.x == 0) finish(call, v);
}

template <class F, int kThreads, int kInFlight>
__global__ void __launch_bounds__(kThreads, 2) many_blocks(Call call) {  // all run at once
  reduce_at_once<F, kThreads, kInFlight, kInFlight == 1 ? 2 : 8>(call);
}

template <class F, int kThreads, int kInFlight>
__global__ void __launch_bounds__(kThreads) many_turns(Call call) {
  reduce_and_collect<F, kThreads, kInFlight>(call);
}

template <class F>
auto kernel_for(const Config& c) {
  if (c.blocks > 256) return many_turns<F, 512, 4>;
  if (c.blocks > 1) {
    return c.in_flight == 1   ? many_blocks<F, 512, 1>
           : c.in_flight == 2 ? many_blocks<F, 512, 2>
           : c.in_flight == 4 ? many_blocks<F, 512, 4>
                              : many_blocks<F, 512, 8>;
  }
  return c.threads == 32     ? (c.in_flight == 1 ? one_block<F, 32, 1> : one_block<F, 32, 2>)
         : c.threads == 64   ? one_block<F, 64, 2>
         : c.threads == 256  ? one_block<F, 256, 1>
         : c.threads == 1024 ? one_block<F, 1024, 8>
         : c.in_flight == 2  ? one_block<F, 512, 2>
         : c.in_flight == 4  ? one_block<F, 512, 4>
                             : one_block<F, 512, 8>;
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Config c = config_for(call.problem.n, *stream.machine);
  const unsigned grid = c.blocks + (c.blocks > 1);  // with the block that collects
  parts::for_function(call.problem.function, call.problem.n, [&](auto function) {
    runtime::launch(stream, {dim3(grid), dim3(static_cast<unsigned>(c.threads))},
                    kernel_for<decltype(function)>(c), call);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const Config c = config_for(p.n, machine);
  const int warps = c.threads / 32;
  if (c.blocks > 1) return predict_one_launch(p, c.blocks, warps, c.blocks > 256 ? warps : 1);
  const PartialCosts cost(p.function);
  ladder::Totals t;
  t.global_load_requests = (p.n + 127) / 128;
  t.global_load_sectors = p.n / 8;
  t.global_store_requests = t.global_store_sectors = 1;
  cost.add_block_reduce(t, 1, warps);
  return t;
}

}  // namespace

WARPLADDER_RUNG(08_by_size) = {.idea = "as many threads as the values need",
                               .accepts = "every problem",
                               .launch = launch,
                               .predict = predict_call<predict>};

}  // namespace warpladder::reduce
