// Bound before: every block searches for rows that stay where they are.
// Idea: a plan. One small kernel looks up each tile's first row, once for a pattern; a product then
// has its rows when it has its entries.
//
// Prediction: as 07_entries, but for the search and its barrier: a barrier a tile. Accepts: every
// matrix; a plan holds for any values. What binds it: memory, and for scattered columns the L2
// cache.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

template <class Offset>
parts::TileStart<Offset>* plan_in(const Call& call) {
  return reinterpret_cast<parts::TileStart<Offset>*>(call.plan);
}

template <class Offset>
__global__ void __launch_bounds__(kTileThreads, 8)
    multiply(Csr<Offset> m, std::uint64_t* flags, const parts::TileStart<Offset>* plan) {
  __shared__ float products[kTileItems];
  const std::int64_t tile = blockIdx.x, first = tile * kOwnEntries;
  const int count = static_cast<int>(m.nnz - first < kTileItems ? m.nnz - first : kTileItems);
  parts::HeldEntries<kTileThreads, kItemsOfThread> held;
  held.load(m, static_cast<Offset>(first), count);
  parts::multiply_tile<kTileThreads, kOwnEntries, kMoreEntries>(m, tile, held, plan[tile],
                                                                plan[tile + 1], flags, products);
}

// A warp to each tile's start, and to the end.
template <class Offset>
__global__ void __launch_bounds__(kTileThreads)
    find_starts(Csr<Offset> m, parts::TileStart<Offset>* plan, std::int64_t count) {
  const std::int64_t i = std::int64_t{blockIdx.x} * (kTileThreads / 32) + threadIdx.x / 32;
  if (i >= count) return;
  const auto found = parts::tile_start<kOwnEntries, kMoreEntries>(m, i);
  if (threadIdx.x % 32 == 0) plan[i] = found;
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, device::Stream& stream) {
  device::launch(stream, {dim3(to_grid(entry_tiles(call.problem))), dim3(kTileThreads)},
                 multiply<Offset>, m, call.flags, plan_in<Offset>(call));
}

template <class Offset>
void prepare(const Csr<Offset>& m, const Call& call, device::Stream& stream) {
  const std::int64_t count = entry_tiles(call.problem) + 1;
  device::launch(stream, {dim3(to_grid(ceil_div(count, kTileThreads / 32))), dim3(kTileThreads)},
                 find_starts<Offset>, m, plan_in<Offset>(call), count);
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t = nothing_predicted();
  t.barriers = entry_tiles(p) * kTileThreads / 32;
  return t;
}

WARPLADDER_SPMV_RUNG_PREPARED("tiles' first rows looked up once, in a plan", "every matrix", launch,
                              predict,
                              (&prepare_call<prepare<std::int32_t>, prepare<std::int64_t>>));

}  // namespace
}  // namespace warpladder::spmv
