// Bound before: the multiply-adds, which do not issue one a cycle. A multiprocessor's registers lie
// in two banks, those of even and those of odd number. Each gives one operand a cycle: two, where
// an FFMA needs three. The third must be in the operand cache, where the instruction before can
// leave one (.reuse in SASS). Row by row, a[i] stays there for seven of a row's eight FFMAs; at
// each turn to the next row all three registers are read.
// Idea: go through every other row backwards. At the turn b[j] is the same, and stays in the cache:
// every FFMA finds one operand there, if no load comes between. Which banks the other two come from
// is up to ptxas; they must only be busy alike.
// Also: rows of a tile that comes from lines along k are padded in shared memory. C that takes no
// float4 is stored row by row. On an H100 NT products take 3 % less time by the padding. With both,
// those with lines of no multiple of 4 elements are 1.17 times as fast or more.
//
// Prediction: row_06's counts, which know nothing of registers, but for half of the wavefronts that
// lay A down. Padding keeps lanes that are four steps of k apart from meeting on a bank.
// tools/register_banks.py reads registers from the machine code; LADDER.md has its figures beside
// the measured times.
// Accepts: every problem; float4 where addresses, leading dimensions and lines are multiples of 4
// elements. What binds it: the loads and the address arithmetic that take one issue slot in nine.

#include "ops/sgemm/rung_parity.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  with_parity_config(
      g.m, g.n, g.k, (g.lda | g.ldb | g.ldc) % 4 == 0, *stream.machine, [&]<ParityConfig config>() {
        using C = ParityTileOf<config>;
        const runtime::LaunchShape shape{tile_grid(tiles(g.m, C::rows), tiles(g.n, C::columns)),
                                         dim3(C::threads)};
        for_layouts(g, trans_a, trans_b, [&]<bool kARows, bool kBRows, int kVector>() {
          runtime::launch(stream, shape, multiply_by_parity<C, kARows, kBRows, kVector, Gemm>, g);
        });
      });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals totals;
  with_parity_config(
      p.m, p.n, p.k, (p.lda | p.ldb | p.ldc) % 4 == 0, machine,
      [&]<ParityConfig config>() { totals = predict_by_parity<ParityTileOf<config>>(p, 1); });
  return totals;
}

}  // namespace

WARPLADDER_RUNG(row_07_register_parity) = {
    .idea = "an order of multiply-adds that spares the register banks",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
