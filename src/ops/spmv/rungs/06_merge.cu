// Bound before: what a block has to do depends on the rows it gets.
// Idea: equal work. Rows and entries, in the order in which a merge takes them, are cut into tiles
// of as many items, whatever the rows (S. Dalton, S. Baxter, D. Merrill, L. Olson, M. Garland,
// "Optimizing Sparse Matrix Operations on GPUs Using Merge Path", IPDPS 2015; D. Merrill and
// M. Garland, "Merge-Based Parallel Sparse Matrix-Vector Multiplication", SC 2016). A block finds
// its first row and its last by search, 32 places at a time, then works as 04_stream does. What is
// left for a row that goes on waits, in a word with a flag, for the tile in which the row ends: one
// launch, and the same bits in every run.
//
// Prediction: each entry is staged once. Accepts: every matrix. What binds it: the search, in which
// each look waits for the one before; and gathers of x, whose sectors are used for 4 bytes.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

constexpr int kThreads = 256;

template <class Offset>
__global__ void __launch_bounds__(kThreads, 6) multiply(Csr<Offset> m, std::uint64_t* flags) {
  __shared__ __align__(16) float words[parts::tile_words(kTileItems)];
  __shared__ std::int64_t bound[2];
  const std::int64_t tile = blockIdx.x, all = m.rows + m.nnz;
  if (threadIdx.x < 64) {  // the first warp looks for the first row, the second for the last
    const int end = threadIdx.x / 32;
    const std::int64_t item = (tile + end) * kTileItems,
                       row = parts::rows_before(m, item < all ? item : all);
    if (threadIdx.x % 32 == 0) bound[end] = row;
  }
  __syncthreads();  // both are known to every thread
  parts::multiply_tile<kThreads, kTileItems>(m, tile, bound[0], bound[1], flags, words);
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, device::Stream& stream) {
  device::launch(stream, {dim3(to_grid(tiles(call.problem))), dim3(kThreads)}, multiply<Offset>, m,
                 call.flags);
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t;
  t.global_load_requests = t.global_load_sectors = ladder::kNotPredicted;
  t.global_store_requests = t.global_store_sectors = ladder::kNotPredicted;
  t.shared_load_requests = t.shared_load_wavefronts = ladder::kNotPredicted;
  t.shared_store_requests = t.shared_store_wavefronts = ladder::kNotPredicted;
  t.shuffles = ladder::kNotPredicted;
  t.barriers = 2 * tiles(p) * kThreads / 32;
  return t;
}

WARPLADDER_SPMV_RUNG("tiles of equal work, found by search", "every matrix", launch, predict);

}  // namespace
}  // namespace warpladder::spmv
