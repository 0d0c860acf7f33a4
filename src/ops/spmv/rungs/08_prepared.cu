// Bound before: every product searches for rows that stay where they are.
// Idea: a plan. What a tile's rows are is looked up once for a pattern, by the same small kernel. A
// product then has its rows when it has its entries.
//
// Prediction: as 07_entries. Accepts: every matrix; a plan holds for any values. What binds it:
// memory, and for scattered columns the L2 cache.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

template <class Offset>
parts::TileStart<Offset>* plan_in(const Call& call) {
  return reinterpret_cast<parts::TileStart<Offset>*>(call.plan);
}

template <class Tile, class Offset>
__global__ void __launch_bounds__(kSearchThreads)
    find_starts(Tile shape, Csr<Offset> m, parts::TileStart<Offset>* plan, std::int64_t count,
                bool every_row) {
  find_starts_of(shape, m, plan, count, every_row);
}

template <class Tile, class Offset>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    multiply(Csr<Offset> m, std::uint64_t* flags, const parts::TileStart<Offset>* plan) {
  __shared__ float products[Tile::kAll];
  parts::multiply_tile<Tile>(m, flags, plan, products, false, [] {});
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream) {
  with_entry_tile(call.problem, [&]<class Tile>() {
    runtime::launch(stream, {dim3(to_grid(entry_tiles(call.problem))), dim3(Tile::kThreads)},
                    multiply<Tile, Offset>, m, call.flags, plan_in<Offset>(call));
  });
}

template <class Offset>
void prepare(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream) {
  with_entry_tile(call.problem, [&]<class Tile>() {
    launch_search(stream, find_starts<Tile, Offset>, Tile(), m, plan_in<Offset>(call));
  });
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t = nothing_predicted();
  t.barriers = barriers_of_entry_tiles(p);
  return t;
}

}  // namespace

WARPLADDER_RUNG(08_prepared) = {
    .idea = "tiles' first rows looked up once, in a plan",
    .accepts = "every matrix",
    .launch = launch_call<launch<std::int32_t>, launch<std::int64_t>>,
    .predict = predict_call<predict>,
    .prepare = prepare_call<prepare<std::int32_t>, prepare<std::int64_t>>};

}  // namespace warpladder::spmv
