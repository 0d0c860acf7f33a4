// Bound before: tc_15's producers. For each round of 32×256 they work out an address for each 16
// bytes of the long operand. They copy the short one to a ring, read it from there and split it.
// That takes 320 instructions, a third of what a multiprocessor issues. And 512 consumers arrive at
// a barrier.
//
// Idea: the copy engine brings the long operand, a round for one instruction. The producers have
// the short one alone, and read it straight into the registers in which they split it, four rounds
// ahead. Consumers split a step while the one before it is multiplied, and a warp arrives once.
// Where lines begin at any word, each fourth one begins as far from a multiple of 16 bytes. To the
// copy engine they are four matrices, whose rows begin at most three words early.
//
// Up to 16 lines of X, a round is 128 lines of Y by 64 of k, and warpgroups share its k, too.
// Longer pieces of each line come at memory's rate, and fewer lines of a tile do not exist. CTAs
// stay, and bring their next slice while they end one.
//
// Prediction: 32×4096×4096 in 22 µs on an H200, 16×8192×8192 at 85 % of a read probe. Measured: 29
// µs, where tc_15 and tc_19 take 31 and cuBLAS 46; 75 µs, 83 % of a read probe, where they take 88.
// Of lines at any word, 9790×8×3794 (NT) takes 53 µs, where tc_19 takes 100 and cuBLAS 88.
// Accepts: every problem. Where the long operand begins at no multiple of 16 bytes, the copy engine
// cannot bring it: then tc_15's kernel does.
// What binds it: up to 32 lines memory, and 9 µs in which a launch reads nothing. These are its
// start, the first box's way, and the join. For more, the tensor cores.

#include "ops/sgemm/tensor/mapped_terms.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/term_product.hpp"

namespace warpladder::sgemm {
namespace {

template <class C, bool kXAlong, bool kYAlong>
__global__ void __launch_bounds__(C::threads, 1)
    multiply(SlicedGemm g, const __grid_constant__ MappedLines<C> maps) {
  auto& shared = *runtime::dynamic_shared<MappedShared<C>>();
  if (threadIdx.x == C::consumers) {
    for (const runtime::TensorMap& map : maps.of) ptx::prefetch_map(map);
  }
  shared.init();
  __syncthreads();  // the barriers are there
  const unsigned slices = g.tiles_x.by * g.tiles_y.by * static_cast<unsigned>(g.slices);
  if (threadIdx.x >= C::consumers) {
    ptx::give_registers<C::producer_registers>();
    produce_mapped<C, kXAlong, kYAlong>(shared, g, maps, rounds_of_cta<C>(g, slices));
    return;
  }
  ptx::take_registers<C::consumer_registers>();
  consume_mapped<C, kXAlong, kYAlong>(shared, g, slices);
}

template <class C>
void launch_mapped(const Lines& lines, const Gemm& g, runtime::StreamView& stream) {
  launch_terms<C>(
      lines, g, sizeof(MappedShared<C>), stream,
      [&]<bool kXAlong, bool kYAlong>() { return multiply<C, kXAlong, kYAlong>; },
      lines.y_along ? maps_of_lines<C, true>(lines.gemm, stream)
                    : maps_of_lines<C, false>(lines.gemm, stream));
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  with_mapped_tile(g.m, g.n, g.k, *stream.machine, [&]<class C>(const Slices& slices) {
    const Lines lines = tiled_lines<C>(g, trans_a, trans_b, slices);
    if (is_mapped(lines.gemm, false)) {
      launch_mapped<C>(lines, g, stream);
    } else if (is_mapped(lines.gemm, true)) {
      launch_mapped<Shifted<C>>(lines, g, stream);
    } else {
      using Copied = typename C::Copied;
      const auto rounds = static_cast<int>(tiles(g.k, Copied::depth));
      launch_split_on_the_way<Copied>(g, trans_a, trans_b, {slices.count, rounds, 0}, stream);
    }
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t = no_predicted_accesses();
  with_mapped_tile(p.m, p.n, p.k, machine, [&]<class C>(const Slices& slices) {
    const std::int64_t x = std::min(p.m, p.n), y = std::max(p.m, p.n);
    const std::uint64_t tiles_of_c = tiles(x, C::tile_x) * tiles(y, C::tile_y),
                        sums = tiles_of_c * C::tile_x * C::tile_y;
    t.tensor_fmas = 6 * sums * slices.rounds * C::depth;
    t.bulk_bytes = 4 * tiles_of_c * C::tile_y * slices.rounds * C::depth;
    const std::uint64_t ctas =
        std::min<std::uint64_t>(tiles_of_c * slices.count, machine.multiprocessors);
    t.fmas = sums * slices.count * C::parts;
    t.barriers = C::threads / 32 * ctas;
    if (C::parts > 1) t.barriers += 2 * C::warps * tiles_of_c * slices.count;
  });
  return t;
}

}  // namespace

WARPLADDER_RUNG(tc_21_mapped_lines) = {.idea = "the copy engine brings the long operand",
                                       .accepts = "every problem; faster from aligned addresses on",
                                       .launch = launch_in<Layout::row_major, launch>,
                                       .predict = predict_in<Layout::row_major, predict>,
                                       .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
