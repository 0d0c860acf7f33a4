// Bound before: the CUDA cores' multiply-adds, which do not issue one a cycle. And a chain of k
// roundings, where cublasSgemm adds up small products in parts and is the more accurate.
// Idea: a factor is a float64 as it is, and Hopper's tensor cores multiply float64 at the rate at
// which its CUDA cores multiply FP32. Every product is exact, a sum is good to 2^-53 a term, and C
// is rounded once, at the end. Infinities, NaN, subnormal numbers and any range of magnitudes mean
// what they mean to FP32, but for sums that would overflow only on the way.
// Tiles are laid down in shared memory as float64, a tile ahead of what is multiplied. A lane's
// rows and columns are dealt so that it reads neighbours from there and writes neighbours to C.
//
// Prediction: m·n·k multiply-adds on the tensor cores at 128 a cycle and multiprocessor, 66 TFLOP/s
// at the most. row_07, bound by the same number, reaches 50. A step of 4 k takes a warp 6 loads for
// 16 products of 16 cycles each.
// Accepts: every problem; float4 where alignment allows.
// What binds it: barriers, and the conversions between them, in which a seventh of the tensor
// cores' time passes.

#include "ops/sgemm/rung_double.hpp"

namespace warpladder::sgemm {
namespace {

// Tiles of C; warps take 64×32 of a large one, 32×32 and 16×32 of the others.
constexpr int kLarge = 128, kSmall = 64, kLeast = 32;
template <int kBlock>
using Config = DoubleConfig<kBlock, kBlock, kBlock / 2, 1>;

// What a product takes in tiles of `block`, in rounds of multiprocessors that each multiply one of
// kLeast; smaller tiles lose time to loads.
double rounds(std::int64_t m, std::int64_t n, std::int64_t multiprocessors, int block,
              double loss) {
  const std::int64_t all = tiles(m, block) * tiles(n, block), area = block / kLeast;
  return static_cast<double>((all + multiprocessors - 1) / multiprocessors * area * area) * loss;
}
template <class Run>
void with_tile(std::int64_t m, std::int64_t n, const runtime::Machine& machine, const Run& run) {
  const std::int64_t multiprocessors = machine.multiprocessors;
  const double large = rounds(m, n, multiprocessors, kLarge, 1),
               small = rounds(m, n, multiprocessors, kSmall, 1.15),
               least = rounds(m, n, multiprocessors, kLeast, 1.5);
  if (large <= small && large <= least) {
    run.template operator()<kLarge>();
  } else if (small <= least) {
    run.template operator()<kSmall>();
  } else {
    run.template operator()<kLeast>();
  }
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  with_tile(g.m, g.n, *stream.machine, [&]<int kBlock>() {
    using C = Config<kBlock>;
    const Slices whole{1, static_cast<int>(tiles(g.k, C::depth)), 0};
    launch_double_slices<C>(g, trans_a, trans_b, whole, stream);
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t;
  with_tile(p.m, p.n, machine, [&]<int kBlock>() { t = predict_in_float64<Config<kBlock>>(p, 1); });
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_08_double) = {.idea = "each factor as one float64, C rounded once",
                                  .accepts = "every problem; float4 where alignment allows",
                                  .launch = launch_in<Layout::row_major, launch>,
                                  .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
