// Bound before: a request moves 128 bytes, so that a multiprocessor cannot ask for as much at once
// as memory could deliver.
// Idea: float4 on both sides. A thread reads four float4 below each other, transposes these 4×4
// elements by renaming registers, and lays them down as rows of the transposed tile. Float4 change
// places within their row (05's exchange, in units of four words). So eight neighbouring lanes meet
// all banks when they write a column of float4, and when they read a row of them.
//
// Prediction, per warp and 16 rows of 32 columns: 4 loads and 4 stores of 16 sectors. And 4 stores
// to shared memory and 4 loads from it, 4 wavefronts each: the least that 512 bytes take.
// Accepts: every problem; float4 where addresses, strides and sizes are multiples of 4 elements,
// and single words elsewhere. What binds it: memory; where sizes are odd, lines that are cut in
// two; where the matrix is small, the time to the first load. So tiles of 32×32 are reckoned in 32
// bits, without asking for the edge where their size divides the matrix's. The first of two that
// share 256 bytes has the L2 cache fetch them all.

#include <algorithm>
#include <limits>

#include "ops/transpose/rung.hpp"
#include "parts/ptx/load.hpp"

namespace warpladder::transpose {
namespace {

template <int kTileSize, class IndexType, bool kWholeTiles>
struct Config {
  using Index = IndexType;
  static constexpr int tile = kTileSize, across = kTileSize / 4, threads = across * across;
  static constexpr int blocks = tile == 64 ? 8 : 24;  // a multiprocessor holds so many
  static constexpr bool whole = kWholeTiles;          // no edge cuts any tile: nothing is asked
  static constexpr bool valid = tile % 32 == 0 && threads <= 1024;
};
using Large = Config<64, std::int64_t, false>;
using Small = Config<32, int, false>;
using Whole = Config<32, int, true>;
static_assert(Large::valid && Small::valid && Whole::valid);
// Fewer large tiles than this leave multiprocessors idle.
constexpr std::int64_t kEnoughTiles = 512;

// Where float4 `chunk` of row `line` of the transposed tile lies.
template <class C>
__device__ __forceinline__ int place(int line, int chunk) {
  return line * C::across + (chunk ^ (line / 4 % 8));
}

template <class C>
__global__ void __launch_bounds__(C::threads, C::blocks)
    transpose_vectors(TilesIn<typename C::Index> tiles) {
  __shared__ float4 shared[C::tile * C::across];
  const Tile tile = tile_of_block<C::tile, C::tile>(tiles);
  const int x = threadIdx.x % C::across, y = threadIdx.x / C::across;
  if (C::whole || (4 * y < tile.rows && 4 * x < tile.columns)) {
    const float* in = &tile.in[4 * y * tiles.ld_in + 4 * x];
    float4 row[4];
    WARPLADDER_UNROLL
    for (int i = 0; i < 4; ++i) {
      const auto* at = reinterpret_cast<const float4*>(in + i * tiles.ld_in);
      row[i] = C::tile * sizeof(float) < 256 ? ptx::load_256(at) : *at;
    }
    shared[place<C>(4 * x + 0, y)] = make_float4(row[0].x, row[1].x, row[2].x, row[3].x);
    shared[place<C>(4 * x + 1, y)] = make_float4(row[0].y, row[1].y, row[2].y, row[3].y);
    shared[place<C>(4 * x + 2, y)] = make_float4(row[0].z, row[1].z, row[2].z, row[3].z);
    shared[place<C>(4 * x + 3, y)] = make_float4(row[0].w, row[1].w, row[2].w, row[3].w);
  }
  __syncthreads();  // the tile is whole before threads take up what others have brought
  WARPLADDER_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int line = i * C::across + y;
    if (C::whole || (line < tile.columns && 4 * x < tile.rows)) {
      *reinterpret_cast<float4*>(&tile.out[line * tiles.ld_out + 4 * x]) =
          shared[place<C>(line, x)];
    }
  }
}

template <class C>
__global__ void __launch_bounds__(C::threads) transpose_ragged(TilesIn<typename C::Index> tiles) {
  transpose_words<C::tile, C::threads>(tiles);
}

template <class C>
void launch_with(const Call& call, runtime::StreamView& stream) {
  const auto kernel = vectors_allowed(call) ? transpose_vectors<C> : transpose_ragged<C>;
  launch_tiles<C::tile, C::tile>(call, stream, dim3(C::threads), 0, kernel);
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  const std::int64_t large_tiles = (p.rows + Large::tile - 1) / Large::tile *
                                   ((p.columns + Large::tile - 1) / Large::tile) * p.batch;
  Problem::Footprint f{};
  check(p, &f);
  if (large_tiles > kEnoughTiles ||
      std::max(f.in_elements, f.out_elements) > std::numeric_limits<int>::max()) {
    return launch_with<Large>(call, stream);
  }
  const bool whole = p.rows % Small::tile == 0 && p.columns % Small::tile == 0;
  whole ? launch_with<Whole>(call, stream) : launch_with<Small>(call, stream);
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t accesses = p.rows * p.columns / 128;
  ladder::Totals t;
  t.global_load_requests = t.global_store_requests = accesses;
  t.global_load_sectors = t.global_store_sectors = 16 * accesses;
  t.shared_store_requests = t.shared_load_requests = accesses;
  t.shared_store_wavefronts = t.shared_load_wavefronts = 4 * accesses;
  t.barriers = accesses / 4;  // a warp makes four accesses a tile, whatever the tile
  return t;
}

}  // namespace

WARPLADDER_RUNG(06_vector) = {.idea = "float4 on both sides, 4x4 elements transposed in registers",
                              .accepts = "every problem; float4 where alignment allows",
                              .launch = launch_call<launch>,
                              .predict = predict_call<predict>,
                              .takes = out_of_place};

}  // namespace warpladder::transpose
