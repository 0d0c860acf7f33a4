// Bound before: a second launch, to add a few hundred numbers.
// Idea: one more block adds them. Each other block publishes its result as one 64-bit word that
// holds the value and says that it is there. So no fence and no counter stand between them. The
// last block has no values of its own, waits for the words and leaves zeros. A counter that tells
// which block arrives last would put a fence and an atomic before the loads.
//
// Prediction: 06 without its second load of partial results, and one reduction more where 06 needs
// no second launch. Accepts: every problem; flags must be zero, and stay the stream's own. What
// binds it: memory for large n; for small ones the way through global memory.

#include "ops/reduce/rung.hpp"

namespace warpladder::reduce {
namespace {

constexpr int kThreads = 512, kInFlight = 4;

std::int64_t blocks_for(std::int64_t n, const runtime::Machine& machine) {
  constexpr std::int64_t kPerBlock = 4 * kThreads * kInFlight;
  const std::int64_t wanted = n <= kPerBlock ? 1 : (n + kPerBlock - 1) / kPerBlock,
                     most = blocks_at_once(4, machine);
  return wanted < most ? wanted : most;
}

template <class F>
__global__ void __launch_bounds__(kThreads) reduce(Call call) {
  reduce_and_collect<F, kThreads, kInFlight>(call);
}

void launch(const Call& call, runtime::StreamView& stream) {
  const auto blocks = static_cast<unsigned>(blocks_for(call.problem.n, *stream.machine));
  parts::for_function(call.problem.function, call.problem.n, [&](auto function) {
    runtime::launch(stream, {dim3(blocks + 1), dim3(kThreads)}, reduce<decltype(function)>, call);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return predict_one_launch(p, blocks_for(p.n, machine), kThreads / 32, kThreads / 32);
}

}  // namespace

WARPLADDER_RUNG(07_one_launch) = {.idea = "the last block adds what the others publish",
                                  .accepts = "every problem",
                                  .launch = launch,
                                  .predict = predict_call<predict>};

}  // namespace warpladder::reduce
