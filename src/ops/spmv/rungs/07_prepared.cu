// Bound before: every block begins with a search that depends on the rows alone, and those stay;
// and then nothing of a tile is under way while its products are added up. Idea: a plan. One small
// kernel looks up each tile's first row, once for a pattern. A product takes as many blocks as run
// at once, each with neighbouring tiles: it asks for a tile's entries before it adds up those of
// the tile before. A row that goes on stays in the block from tile to tile, and only what a block
// leaves of its last row waits in a word with a flag.
//
// Prediction: two barriers a tile and one for each block. Accepts: every matrix; a plan holds for
// any values. What binds it: memory, and for scattered columns the L2 cache.

#include "ops/spmv/rung.hpp"

namespace warpladder::spmv {
namespace {

constexpr int kThreads = 256, kFours = 2, kEnds = 2, kMostBlocks = 4 * 132;

std::int64_t tiles_of_block(const Problem& p) { return ceil_div(tiles(p), kMostBlocks); }
std::int64_t blocks(const Problem& p) { return ceil_div(tiles(p), tiles_of_block(p)); }

// A tile's entries and the ends of its first rows, asked for and not yet used.
template <class Offset>
struct HeldTile {
  parts::HeldEntries<kThreads, kFours> entries;
  std::int64_t row0, entry0;
  int rows;
  Offset end[kEnds];

  __device__ __forceinline__ void load(const Csr<Offset>& m, std::int64_t tile, std::int64_t first,
                                       std::int64_t last) {
    const std::int64_t all = m.rows + m.nnz, item = tile * kTileItems;
    const std::int64_t items = all - item < kTileItems ? all - item : kTileItems;
    row0 = first;
    entry0 = item - first;
    rows = static_cast<int>(last - first);
    entries.load(m, entry0, static_cast<int>(items) - rows);
    WARPLADDER_UNROLL
    for (int u = 0; u < kEnds; ++u) {
      const int i = static_cast<int>(threadIdx.x) + u * kThreads;
      end[u] = i < rows ? __ldg(m.row_offsets + row0 + 1 + i) : 0;
    }
  }

  // Products and ends in shared memory; returns the ends.
  __device__ __forceinline__ int* stage(const Csr<Offset>& m, float* words) const {
    int* const ends = reinterpret_cast<int*>(words + parts::staged_size(entries.count));
    const std::int64_t shifted = entry0 - entries.shift;
    WARPLADDER_UNROLL
    for (int u = 0; u < kEnds; ++u) {
      const int i = static_cast<int>(threadIdx.x) + u * kThreads;
      if (i < rows) ends[i] = static_cast<int>(end[u] - shifted);
    }
    for (int i = static_cast<int>(threadIdx.x) + kEnds * kThreads; i < rows; i += kThreads) {
      ends[i] = static_cast<int>(__ldg(m.row_offsets + row0 + 1 + i) - shifted);
    }
    if (threadIdx.x == 0) ends[rows] = entries.shift + entries.count;
    entries.multiply(m.x, words);
    return ends;
  }
};

template <class Offset>
__global__ void __launch_bounds__(kThreads, 4)
    multiply(Csr<Offset> m, std::uint64_t* flags, const std::int64_t* plan, std::int64_t tiles,
             std::int64_t tiles_of_block) {
  __shared__ __align__(16) float words[parts::tile_words(kTileItems)];
  __shared__ float carried[2];  // into each other tile: what there is of a row that goes on
  const std::int64_t tile0 = blockIdx.x * tiles_of_block,
                     tile1 = tile0 + tiles_of_block < tiles ? tile0 + tiles_of_block : tiles;
  const int t = threadIdx.x;
  std::int64_t row = __ldg(plan + tile0), next = __ldg(plan + tile0 + 1);
  HeldTile<Offset> held;
  held.load(m, tile0, row, next);
  const std::int64_t row0 = row, begun = row0 < m.rows ? __ldg(m.row_offsets + row0) : m.nnz;
  bool waits = begun < held.entry0;  // the first row has begun in a block before
  bool goes_on = false;
  float first = 0.0f;
  if (t == 0) carried[tile0 & 1] = 0.0f;
  for (std::int64_t tile = tile0; tile < tile1; ++tile) {
    const std::int64_t after = __ldg(plan + (tile + 2 < tiles ? tile + 2 : tiles));
    const int* ends = held.stage(m, words);
    const int rows = held.rows, begin = held.entries.shift, entries = held.entries.count;
    if (tile + 1 < tile1) held.load(m, tile + 1, next, after);
    __syncthreads();  // products and ends are there before they are read
    const float before = carried[tile & 1];
    goes_on = (rows == 0 || ends[rows - 1] < begin + entries) && ends[rows] > begin;
    parts::sum_segments<kThreads>(words, ends, begin, rows + goes_on,
                                  parts::lanes_log2_for(entries, rows + 1), [&](int s, float sum) {
                                    if (s == 0) sum += before;
                                    if (s == rows) {
                                      carried[(tile + 1) & 1] = sum;
                                    } else if (s == 0 && waits && row == row0) {
                                      first = sum;  // which thread 0 has
                                    } else {
                                      parts::store_row(m, row + s, sum);
                                    }
                                  });
    if (t == 0 && !goes_on) carried[(tile + 1) & 1] = 0.0f;
    row = next;
    next = after;
    __syncthreads();  // they have been, before the next tile's come
  }
  if (t == 0 && goes_on) flags[blockIdx.x] = parts::to_word(carried[tile1 & 1]);
  if (t >= 32 || !waits || row == row0) return;
  const std::int64_t block0 = (row0 + begun) / kTileItems / tiles_of_block;
  const float taken =
      parts::take_sum<4>(flags + block0, 1, t, 32, static_cast<int>(blockIdx.x - block0));
  first += parts::warp::reduce(taken, parts::warp::Sum());
  if (t == 0) parts::store_row(m, row0, first);
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
  const Problem& p = call.problem;
  device::launch(stream, {dim3(to_grid(blocks(p))), dim3(kThreads)}, multiply<Offset>, m,
                 call.flags, call.plan, tiles(p), tiles_of_block(p));
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
  t.barriers = 2 * tiles(p) * kThreads / 32;
  return t;
}

WARPLADDER_SPMV_RUNG_PREPARED("the tiles' rows looked up once; loads run ahead", "every matrix",
                              launch, predict,
                              (&prepare_call<prepare<std::int32_t>, prepare<std::int64_t>>));

}  // namespace
}  // namespace warpladder::spmv
