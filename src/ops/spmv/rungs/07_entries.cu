// Bound before: a tile's entries are asked for when the search for its rows is done, and nearly
// every tile waits for a word of the one before.
// Idea: tiles of entries alone. Where a tile's entries lie needs no search, so that they are under
// way while two warps look for its rows. A tile takes 32 entries more than it owns: a row that goes
// on a little into the next tile stays in one piece, and only long rows are cut.
//
// Prediction: two barriers a tile. Accepts: every matrix. What binds it: memory, and for scattered
// columns the L2 cache; a tile has every row that begins in it, and of empty rows that may be many.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

template <class Offset>
__global__ void __launch_bounds__(kTileThreads, 8) multiply(Csr<Offset> m, std::uint64_t* flags) {
  __shared__ float products[kTileItems];
  __shared__ parts::TileStart<Offset> start[2];
  const std::int64_t tile = blockIdx.x, first = tile * kOwnEntries;
  const int t = threadIdx.x,
            count = static_cast<int>(m.nnz - first < kTileItems ? m.nnz - first : kTileItems);
  parts::HeldEntries<kTileThreads, kItemsOfThread> held;
  held.load(m, static_cast<Offset>(first), count);
  if (t < 64) {  // the first warp looks for the first row, the second for the last
    const auto found = parts::tile_start<kOwnEntries, kMoreEntries>(m, tile + t / 32);
    if (t % 32 == 0) start[t / 32] = found;
  }
  __syncthreads();  // both are known to every thread
  parts::multiply_tile<kTileThreads, kOwnEntries, kMoreEntries>(m, tile, held, start[0], start[1],
                                                                flags, products);
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, device::Stream& stream) {
  device::launch(stream, {dim3(to_grid(entry_tiles(call.problem))), dim3(kTileThreads)},
                 multiply<Offset>, m, call.flags);
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t = nothing_predicted();
  t.barriers = 2 * entry_tiles(p) * kTileThreads / 32;
  return t;
}

WARPLADDER_SPMV_RUNG("tiles of entries, which need no search to be read", "every matrix", launch,
                     predict);

}  // namespace
}  // namespace warpladder::spmv
