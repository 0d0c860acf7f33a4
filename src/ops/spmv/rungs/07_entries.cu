// Bound before: a tile's entries are asked for when the search for its rows is done. And nearly
// every tile waits for a word of the one before.
// Idea: tiles of entries alone. Where a tile's entries lie needs no search. A small kernel in
// front, a warp to a tile, looks for the rows that begin in it. The product's blocks start
// meanwhile and ask for their entries. A tile takes 32 entries more than it owns. So a row that
// goes on a little into the next tile stays in one piece, and only long rows are cut.
//
// Prediction: a barrier a tile. Accepts: every matrix. What binds it: memory, and for scattered
// columns the L2 cache. A tile has every row that begins in it, and of empty rows that may be many.

#include "ops/spmv/rung.hpp"
#include "parts/ptx/dependent_launch.hpp"

namespace warpladder::spmv {
namespace {

template <class Tile, class Offset>
__global__ void __launch_bounds__(kSearchThreads)
    find_starts(Tile shape, Csr<Offset> m, parts::TileStart<Offset>* starts, std::int64_t count,
                bool every_row) {
  ptx::allow_next_kernel();
  find_starts_of(shape, m, starts, count, every_row);
}

template <class Tile, class Offset>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    multiply(Csr<Offset> m, std::uint64_t* flags, const parts::TileStart<Offset>* starts,
             unsigned first_blocks) {
  __shared__ float products[Tile::kAll];
  // Blocks that do not start with the first ones will find the search at its end.
  const bool may_wait = blockIdx.x < first_blocks;
  parts::multiply_tile<Tile>(m, flags, starts, products, may_wait,
                             [] { ptx::wait_for_previous_kernel(); });
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream) {
  with_entry_tile(call.problem, [&]<class Tile>() {
    auto* const starts = reinterpret_cast<parts::TileStart<Offset>*>(call.scratch);
    launch_search(stream, find_starts<Tile, Offset>, Tile(), m, starts);
    runtime::launch(stream,
                    {dim3(to_grid(entry_tiles(call.problem))), dim3(Tile::kThreads), 0, 1, true},
                    multiply<Tile, Offset>, m, call.flags, starts,
                    static_cast<unsigned>(stream.machine->multiprocessors) * Tile::kBlocks);
  });
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t = nothing_predicted();
  t.barriers = barriers_of_entry_tiles(p);
  return t;
}

}  // namespace

WARPLADDER_RUNG(07_entries) = {.idea = "tiles of entries, their rows looked up meanwhile",
                               .accepts = "every matrix",
                               .launch = launch_call<launch<std::int32_t>, launch<std::int64_t>>,
                               .predict = predict_call<predict>};

}  // namespace warpladder::spmv
