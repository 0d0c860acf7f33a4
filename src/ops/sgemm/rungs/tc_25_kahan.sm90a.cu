// Bound before: a sum of n FP32 numbers loses up to n/2 of its last bits, and the adder of the
// tensor cores truncates. Positive operands show it: tc_04's error at k = 4096 is three times
// cublasSgemm's, which adds up parts of k.
// Idea: lose nothing. Kahan's sum keeps what each FP32 addition rounds away, and subtracts it from
// the next number. A tensor core adds up 16 numbers of k at most, and the product lo·lo counts too.
//
// Prediction: 4/3 of tc_06's multiply-adds for each element of C, and 4 FP32 additions instead of 1
// for each 16 of k instead of 64. Less than half of its rate; an error that does not grow with k.
// Accepts: moderate values. What binds it: the FP32 additions, for which the tensor cores wait.

#include "ops/sgemm/tensor/config.hpp"
#include "ops/sgemm/tensor/epilogue.hpp"
#include "ops/sgemm/tensor/launch.hpp"
#include "ops/sgemm/tensor/prediction.hpp"
#include "ops/sgemm/tensor/split_pass.hpp"
#include "parts/ptx/register_share.hpp"

namespace warpladder::sgemm {
namespace {

using Pairs = parts::UncountedHalfPairs;

// 64×128 sums a warpgroup: as many numbers more keep what they have lost.
constexpr TensorConfig kConfig{.block_m = 128, .stages = 6};
using Ring = ConfigType<kConfig>::Ring;

__global__ void __launch_bounds__(TensorConfig::threads, 1)
    multiply(const __grid_constant__ runtime::TensorMap a_map,
             const __grid_constant__ runtime::TensorMap b_map, Gemm g, SplitGemm split) {
  auto& ring = *runtime::dynamic_shared<Ring>();
  const auto [row0, column0] = tile_of_block<kConfig.block_m, kConfig.block_n>(g);
  const int groups = groups_of<Pairs>(g.k);
  if (threadIdx.x == 0) ring.init(TensorConfig::consumers / 32);
  __syncthreads();  // the barriers are initialised

  if (threadIdx.x >= TensorConfig::consumers) {
    ptx::give_registers<40>();
    if (threadIdx.x > TensorConfig::consumers) return;
    parts::RingPlace<Ring::kStages> to{0, 1};
    for (int group = 0; group < groups; ++group, to.advance()) {
      ptx::Barrier* const full = &ring.full[to.stage];
      ptx::wait(&ring.empty[to.stage], to.parity);
      ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
      fetch<1>(ring.a[to.stage], a_map, full, row0, group);
      fetch<1>(ring.b[to.stage], b_map, full, column0, group);
    }
  } else {
    ptx::take_registers<232>();
    const int own_row = ptx::warpgroup() * 64;
    parts::RingPlace<Ring::kStages> from;
    float sums[kConfig.block_n / 2] = {}, lost[kConfig.block_n / 2] = {};
    for (int group = 0; group < groups; ++group) {
      parts::add_group_kahan<Pairs>(ring, from, own_row, sums, lost);
    }
    store_sums<Pairs>(g, split, sums, {row0 + own_row, column0});
  }
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const SplitGemm split = launch_split<Pairs>(g, trans_a, trans_b, stream);
  const dim3 grid = tile_grid(tiles(g.m, kConfig.block_m), tiles(g.n, kConfig.block_n));
  runtime::launch(stream, {grid, dim3(TensorConfig::threads), sizeof(Ring)}, multiply,
                  a_map_of<kConfig>(split, stream), b_map_of<kConfig>(split, stream), g, split);
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  const std::int64_t blocks = tiles(p.m, kConfig.block_m) * tiles(p.n, kConfig.block_n);
  return predict_tensor<Pairs>(
      p, machine, groups_of<Pairs>(p.k), blocks * kConfig.block_m * kConfig.block_n, 4,
      blocks * (Ring::kABytes + Ring::kBBytes), TensorConfig::threads / 32 * blocks);
}

}  // namespace

WARPLADDER_RUNG(tc_25_kahan) = {.idea = "Kahan's sum of all four products",
                                .accepts = "moderate values",
                                .launch = launch_in<Layout::row_major, launch>,
                                .predict = predict_in<Layout::row_major, predict>,
                                .takes = promises_moderate_values,
                                .arithmetic = in_halves(16)};

}  // namespace warpladder::sgemm
