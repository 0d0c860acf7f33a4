// Bound before: row_07's kernel is compiled for every product. It divides by the number of tiles to
// find its own, and compares each load of a ragged tile with the end. It keeps leading dimensions
// and sizes in registers, and has one tile, of 128×128.
//
// Idea: compile the kernel when the product is known (runtime/compile.hpp), and for the tile that
// fills the GPU best. Sizes, leading dimensions and the kinds of alpha and beta are constants. The
// compiler drops the comparisons that always hold and makes addresses of constants. The executor
// runs the same template with these values as variables.
//
// Prediction: row_07's counts with the chosen tile; what is saved are integer instructions. How
// much time that saves, benchmarks/run_time_compilation measures. Accepts: every problem; float4
// where alignment allows. What binds it: as in row_07; and the first call, which compiles for about
// half a second.

#include "ops/sgemm/rung_compiled.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
#if defined(__CUDACC__)
  launch_constant_product(g, trans_a, trans_b, stream);
#else
  with_compiled_tile(g.m, g.n, *stream.machine, [&]<class C>() {
    const runtime::LaunchShape shape{tile_grid(tiles(g.m, C::rows), tiles(g.n, C::columns)),
                                     dim3(C::threads)};
    for_layouts(g, trans_a, trans_b, [&]<bool kARows, bool kBRows, int kVector>() {
      runtime::launch(stream, shape, multiply_by_parity<C, kARows, kBRows, kVector, Gemm>, g);
    });
  });
#endif
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return with_compiled_tile(p.m, p.n, machine,
                            [&]<class C>() { return predict_by_parity<C>(p, 1); });
}

}  // namespace

WARPLADDER_RUNG(row_21_constant_sizes) = {
    .idea = "row_07 compiled at run time: sizes are constants",
    .accepts = "every problem; float4 where alignment allows",
    .launch = launch_in<Layout::row_major, launch>,
    .predict = predict_in<Layout::row_major, predict>,
    .needs = {.compiler = true}};

}  // namespace warpladder::sgemm
