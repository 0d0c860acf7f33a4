// Bound before: every block begins with a search that depends on the rows alone, and those stay.
// Idea: a plan. One small kernel looks up each tile's first row, once for a pattern; a product then
// begins with its entries.
//
// Prediction: as 06_merge, but for the search and its barrier: a barrier a tile. Accepts: every
// matrix; what the plan was made for. What binds it: memory, and for scattered columns the L2
// cache.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

constexpr int kThreads = 256;

template <class Offset>
__global__ void __launch_bounds__(kThreads, 6)
    multiply(Csr<Offset> m, std::uint64_t* flags, const std::int64_t* plan) {
  __shared__ __align__(16) float words[parts::tile_words(kTileItems)];
  const std::int64_t tile = blockIdx.x;
  parts::multiply_tile<kThreads, kTileItems>(m, tile, __ldg(plan + tile), __ldg(plan + tile + 1),
                                             flags, words);
}

// A warp to each boundary between tiles.
template <class Offset>
__global__ void __launch_bounds__(kThreads)
    find_rows(Csr<Offset> m, std::int64_t* plan, std::int64_t boundaries) {
  const std::int64_t i = std::int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  if (i >= boundaries) return;
  const std::int64_t all = m.rows + m.nnz, item = i * kTileItems;
  const std::int64_t row = parts::rows_before(m, item < all ? item : all);
  if (threadIdx.x % 32 == 0) plan[i] = row;
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, device::Stream& stream) {
  device::launch(stream, {dim3(to_grid(tiles(call.problem))), dim3(kThreads)}, multiply<Offset>, m,
                 call.flags, call.plan);
}

template <class Offset>
void prepare(const Csr<Offset>& m, const Call& call, device::Stream& stream) {
  const std::int64_t boundaries = plan_words(call.problem);
  device::launch(stream, {dim3(to_grid(ceil_div(boundaries, kThreads / 32))), dim3(kThreads)},
                 find_rows<Offset>, m, call.plan, boundaries);
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t;
  t.global_load_requests = t.global_load_sectors = ladder::kNotPredicted;
  t.global_store_requests = t.global_store_sectors = ladder::kNotPredicted;
  t.shared_load_requests = t.shared_load_wavefronts = ladder::kNotPredicted;
  t.shared_store_requests = t.shared_store_wavefronts = ladder::kNotPredicted;
  t.shuffles = ladder::kNotPredicted;
  t.barriers = tiles(p) * kThreads / 32;
  return t;
}

WARPLADDER_SPMV_RUNG_PREPARED("the tiles' rows looked up once, in a plan", "every matrix", launch,
                              predict,
                              (&prepare_call<prepare<std::int32_t>, prepare<std::int64_t>>));

}  // namespace
}  // namespace warpladder::spmv
