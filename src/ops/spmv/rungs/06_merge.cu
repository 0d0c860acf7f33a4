// Bound before: what a block has to do depends on the rows it gets.
// Idea: equal work. Rows and entries, in the order in which a merge takes them, are cut into tiles
// of as many items, whatever the rows (S. Dalton, S. Baxter, D. Merrill, L. Olson, M. Garland,
// "Optimizing Sparse Matrix Operations on GPUs Using Merge Path", IPDPS 2015; D. Merrill and
// M. Garland, "Merge-Based Parallel Sparse Matrix-Vector Multiplication", SC 2016). A block finds
// its first row and its last by search, 32 places at a time, then works as 04_stream does. What is
// left for a row that goes on waits, in a word with a flag, for the tile in which the row ends. So
// there is one launch, and the same bits in every run.
//
// Prediction: two barriers a tile; each entry is read once. Accepts: every matrix. What binds it: a
// tile's entries are asked for when the search is done; and nearly every tile waits for the one
// before.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

using Tile = DeepTile;

template <class Offset>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    multiply(Csr<Offset> m, std::uint64_t* flags) {
  __shared__ float products[Tile::kAll];
  __shared__ int ends[Tile::kAll + 1];
  __shared__ std::int64_t bound[2];
  const std::int64_t tile = blockIdx.x, all = m.rows + m.nnz, item0 = tile * Tile::kAll,
                     item1 = item0 + Tile::kAll < all ? item0 + Tile::kAll : all;
  const int t = threadIdx.x;
  if (t < 64) {  // the first warp looks for the first row, the second for the last
    const std::int64_t row = parts::rows_before(m, t < 32 ? item0 : item1);
    if (t % 32 == 0) bound[t / 32] = row;
  }
  __syncthreads();  // both are known to every thread
  const std::int64_t row0 = bound[0];
  const int rows = static_cast<int>(bound[1] - row0),
            entries = static_cast<int>(item1 - item0) - rows;
  const auto entry0 = static_cast<Offset>(item0 - row0);
  parts::HeldEntries<Tile::kThreads, Tile::kItems> held;
  held.load(m, entry0, entries);
  for (int i = t; i < rows; i += Tile::kThreads) {
    ends[i] = static_cast<int>(__ldg(m.row_offsets + row0 + 1 + i) - entry0);
  }
  if (t == 0) ends[rows] = entries;
  held.multiply(m.x, 0, entries, products);
  __syncthreads();  // products and ends are there before they are read
  const bool goes_on = ends[rows] > (rows > 0 ? ends[rows - 1] : 0);
  const auto ask = [&](int s) -> parts::Segment { return {s > 0 ? ends[s - 1] : 0, ends[s]}; };
  const auto segment = [](const parts::Segment& asked) { return asked; };
  const int segments = rows + goes_on, lanes_log2 = parts::lanes_log2_for(entries, rows + 1);
  parts::Segment asked[1];
  parts::ask_first<Tile::kThreads>(t, segments, lanes_log2, asked, ask);
  float first = 0.0f;
  parts::sum_segments<Tile::kThreads>(t, products, segments, lanes_log2, asked, ask, segment,
                                      [&](int s, float sum) {
                                        if (s == rows) {
                                          flags[tile] = parts::to_word(sum);
                                        } else if (s == 0) {
                                          first = sum;  // which thread 0 has
                                        } else {
                                          parts::store_row(m, row0 + s, sum);
                                        }
                                      });
  if (t >= 32 || rows == 0) return;
  // The first row may have begun some tiles before.
  const std::int64_t begun = __ldg(m.row_offsets + row0);
  if (begun < entry0) first += parts::take_parts(flags, (row0 + begun) / Tile::kAll, tile);
  if (t == 0) parts::store_row(m, row0, first);
}

template <class Offset>
void launch(const Csr<Offset>& m, const Call& call, runtime::StreamView& stream) {
  runtime::launch(stream, {dim3(to_grid(merge_tiles(call.problem))), dim3(Tile::kThreads)},
                  multiply<Offset>, m, call.flags);
}

ladder::Totals predict(const Problem& p) {
  ladder::Totals t = nothing_predicted();
  t.barriers = 2 * merge_tiles(p) * Tile::kThreads / 32;
  return t;
}

}  // namespace

WARPLADDER_RUNG(06_merge) = {.idea = "tiles of equal work, found by search",
                             .accepts = "every matrix",
                             .launch = launch_call<launch<std::int32_t>, launch<std::int64_t>>,
                             .predict = predict_call<predict>};

}  // namespace warpladder::spmv
