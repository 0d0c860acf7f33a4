// Bound before: rows that do not begin on a 128-byte line. Each request of a warp then touches two
// lines, on either side, and odd sizes forbid float4.
// Idea: rotate the lanes. A warp that moves a row of the tile lets the lane of number 0 take the
// first word of it that begins a line. The lanes go round: c = (lane - misalignment) mod the tile's
// width. Every request but one is then a whole line, the two ragged ends share that one, and no
// lane is idle. Tiles of 128×64 make many lines of each row. A warp's rows are 16 apart, so that
// only two misalignments alternate among them, and a lane need not keep a place for each row.
//
// Prediction: for aligned sizes 04's sectors and wavefronts, in requests of a word a lane; a
// barrier for each 16 loads. Accepts: every problem. What binds it: memory, and the ends of rows:
// two tiles write their sectors, a part each.

#include "ops/transpose/rung.hpp"

namespace warpladder::transpose {
namespace {

struct Config {
  int rows = 128, columns = 64, threads = 512;
  constexpr int warps() const { return threads / 32; }
  constexpr int loads() const { return rows * columns / threads; }
  constexpr int period() const { return 32 / warps(); }  // rows 32 apart begin alike on their lines
};
constexpr bool valid(Config c) {
  // Widths are powers of two, for lanes go round them.
  return (c.rows & (c.rows - 1)) == 0 && (c.columns & (c.columns - 1)) == 0 && c.rows >= 32 &&
         c.columns >= 32 && c.rows % c.warps() == 0 && c.columns % c.warps() == 0 &&
         32 % c.warps() == 0;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

// The word of a line that this lane moves first. The line is a power of two long, and the result is
// to be taken modulo its length. The lane moves others 32 on, and round.
__device__ __forceinline__ int first_word(const float* line) {
  return static_cast<int>(threadIdx.x % 32) -
         static_cast<int>(reinterpret_cast<std::uintptr_t>(line) / 4 % 32);
}

// kWhole: no edge cuts the tile, and nothing has to be asked. Elsewhere loads go to the nearest
// element that there is, so that none waits for a comparison.
template <bool kWhole>
__device__ __forceinline__ void move_tile(float (*shared)[kConfig.columns + 1], const Tile& tile,
                                          std::int64_t ld_in, std::int64_t ld_out) {
  constexpr int kAcross = kConfig.columns / 32, kDown = kConfig.rows / 32;  // words of a lane
  constexpr int kRows = kConfig.rows / kConfig.warps(),
                kColumns = kConfig.columns / kConfig.warps();
  constexpr int kStep = kConfig.warps(), kPeriod = kConfig.period();
  const int warp = threadIdx.x / 32;
  float held[kRows][kAcross];
  int first[kPeriod];
  WARPLADDER_UNROLL
  for (int l = 0; l < kPeriod; ++l) {
    first[l] = first_word(tile.in + (warp + l * kStep) * ld_in);
  }
  WARPLADDER_UNROLL
  for (int l = 0; l < kRows; ++l) {
    const int i = warp + l * kStep;
    const float* line = tile.in + (kWhole ? i : min(i, tile.rows - 1)) * ld_in;
    WARPLADDER_UNROLL
    for (int k = 0; k < kAcross; ++k) {
      const int j = (first[l % kPeriod] + 32 * k) & (kConfig.columns - 1);
      held[l][k] = line[kWhole ? j : min(j, tile.columns - 1)];
    }
  }
  WARPLADDER_UNROLL
  for (int l = 0; l < kRows; ++l) {
    WARPLADDER_UNROLL
    for (int k = 0; k < kAcross; ++k) {
      const int j = (first[l % kPeriod] + 32 * k) & (kConfig.columns - 1);
      shared[warp + l * kStep][j] = held[l][k];
    }
  }
  __syncthreads();  // the tile is whole before threads take up what others have brought
  WARPLADDER_UNROLL
  for (int l = 0; l < kPeriod; ++l) {
    first[l] = first_word(tile.out + (warp + l * kStep) * ld_out);
  }
  WARPLADDER_UNROLL
  for (int l = 0; l < kColumns; ++l) {
    const int j = warp + l * kStep;
    float* line = tile.out + j * ld_out;
    if (!kWhole && j >= tile.columns) break;
    WARPLADDER_UNROLL
    for (int k = 0; k < kDown; ++k) {
      const int i = (first[l % kPeriod] + 32 * k) & (kConfig.rows - 1);
      if (kWhole || i < tile.rows) line[i] = shared[i][j];
    }
  }
}

__global__ void __launch_bounds__(kConfig.threads, 3) transpose(Tiles tiles) {
  __shared__ float shared[kConfig.rows][kConfig.columns + 1];  // padded: columns on 32 banks
  const Tile tile = tile_of_block<kConfig.rows, kConfig.columns>(tiles);
  if (tile.rows == kConfig.rows && tile.columns == kConfig.columns) {
    move_tile<true>(shared, tile, tiles.ld_in, tiles.ld_out);
  } else {
    move_tile<false>(shared, tile, tiles.ld_in, tiles.ld_out);
  }
}

void launch(const Call& call, runtime::StreamView& stream) {
  launch_tiles<kConfig.rows, kConfig.columns>(call, stream, dim3(kConfig.threads), 0, transpose);
}

ladder::Totals predict(const Problem& p) {
  const std::uint64_t accesses = p.rows * p.columns / 32;
  ladder::Totals t;
  t.global_load_requests = t.global_store_requests = accesses;
  t.global_load_sectors = t.global_store_sectors = 4 * accesses;
  t.shared_store_requests = t.shared_store_wavefronts = accesses;
  t.shared_load_requests = t.shared_load_wavefronts = accesses;
  t.barriers = accesses / kConfig.loads();
  return t;
}

}  // namespace

WARPLADDER_RUNG(07_rotated) = {.idea = "lanes rotated so that every request is a whole line",
                               .accepts = "every problem",
                               .launch = launch_call<launch>,
                               .predict = predict_call<predict>,
                               .takes = out_of_place};

}  // namespace warpladder::transpose
