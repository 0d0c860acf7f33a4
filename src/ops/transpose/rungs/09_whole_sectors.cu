// Bound before (07): a tile's piece of an output row begins and ends within a sector of 32 bytes.
// Two tiles write that sector, a part each. The L2 cache takes a part as slowly as a whole.
// Idea: shear the tile. Column j of it, a row of the output, gets the rows from row0 - m to
// row0 + 128 - m of the input. Here m is that output row's misalignment in its sector, so that its
// piece begins and ends with whole sectors. For that a block reads the seven rows above its own
// too. They are read twice, which costs less, and less again in a tile of 128×128. Lanes go round
// as in 07, on both sides.
//
// Prediction: for aligned sizes, where m is 0 and the rows above are left alone, 07's counts. For
// other sizes 16 sectors stored per column and tile, where 07 asks for 16.9, and 135 rows read
// for 128. Two blocks of 1024 threads a multiprocessor, 32 registers each. Accepts: every problem;
// tiles this large want a large one. What binds it: memory, and sectors of the input that two tiles
// read.

#include "ops/transpose/rung.hpp"

namespace warpladder::transpose {
namespace {

struct Config {
  int rows = 128, columns = 128, threads = 1024;
  int sector = 8;  // words
  constexpr int warps() const { return threads / 32; }
  constexpr int warps_a_row() const { return columns / 32; }
  constexpr int rows_at_once() const { return warps() / warps_a_row(); }
  constexpr int loads() const { return rows / rows_at_once(); }  // and one of the rows above
  // Rows this many loads apart begin alike on their lines.
  constexpr int period() const { return 32 / rows_at_once(); }
  constexpr int pitch() const { return columns + 1; }  // padded: columns on 32 banks
  constexpr std::size_t shared_bytes() const { return sizeof(float) * (rows + sector) * pitch(); }
};
constexpr bool valid(Config c) {
  // Widths are powers of two, for lanes go round them. All rows above the tile are one load; all
  // output rows of a warp begin alike on their lines.
  return (c.rows & (c.rows - 1)) == 0 && (c.columns & (c.columns - 1)) == 0 && c.rows >= 32 &&
         c.columns >= 32 && c.rows_at_once() == c.sector && c.warps() % 32 == 0 &&
         c.columns % c.warps() == 0;
}
constexpr Config kConfig;
static_assert(valid(kConfig));

__device__ __forceinline__ int words_into_line(const float* p) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) / 4 % 32);
}

// Rows from -above to below - 1 of the tile exist and may be read. kWhole: that is all of them, and
// no edge cuts columns: nothing has to be asked. Elsewhere loads go to the nearest element there
// is.
template <bool kWhole>
__device__ __forceinline__ void move_tile(float* shared, const Tile& tile, std::int64_t ld_in,
                                          std::int64_t ld_out, int above, int below) {
  constexpr int kPitch = kConfig.pitch(), kStep = kConfig.rows_at_once(), kLast = kConfig.loads(),
                kPeriod = kConfig.period(), kColumns = kConfig.columns / kConfig.warps();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row0 = warp / kConfig.warps_a_row() - kStep, part = warp % kConfig.warps_a_row();
  const bool reads_above = above > 0 && row0 > -kStep;  // at most seven rows, not eight
  float held[kLast + 1];
  int column[kPeriod];
  WARPLADDER_UNROLL
  for (int l = 0; l < kPeriod; ++l) {
    const int into = words_into_line(tile.in + (row0 + l * kStep) * ld_in);
    column[l] = (lane + 32 * part - into) & (kConfig.columns - 1);
  }
  WARPLADDER_UNROLL
  for (int l = 0; l <= kLast; ++l) {
    const int i = row0 + l * kStep, j = column[l % kPeriod];
    if (kWhole) {
      if (l > 0 || reads_above) held[l] = tile.in[i * ld_in + j];
    } else {
      held[l] = tile.in[max(min(i, below - 1), -above) * ld_in + min(j, tile.columns - 1)];
    }
  }
  WARPLADDER_UNROLL
  for (int l = 0; l <= kLast; ++l) {
    const int i = row0 + l * kStep, j = column[l % kPeriod];
    if (l > 0 || reads_above) shared[(i + kConfig.sector) * kPitch + j] = held[l];
  }
  __syncthreads();  // the tile is whole before threads take up what others have brought
  const int into = words_into_line(tile.out + warp * ld_out), into_sector = into % kConfig.sector;
  WARPLADDER_UNROLL
  for (int l = 0; l < kColumns; ++l) {
    const int j = warp + l * kConfig.warps();
    WARPLADDER_UNROLL
    for (int k = 0; k < kConfig.rows / 32; ++k) {
      const int i = ((lane + 32 * k - (into - into_sector)) & (kConfig.rows - 1)) - into_sector;
      if (kWhole || (j < tile.columns && i >= -above && i < below)) {
        tile.out[j * ld_out + i] = shared[(i + kConfig.sector) * kPitch + j];
      }
    }
  }
}

// `sheared`: some output row begins within a sector.
__global__ void __launch_bounds__(kConfig.threads, 2)
    transpose(Tiles tiles, std::int64_t rows, bool sheared) {
  float* shared = runtime::dynamic_shared<float>();
  const Tile tile = tile_of_block<kConfig.rows, kConfig.columns>(tiles);
  const std::int64_t left = rows - std::int64_t{blockIdx.x} * kConfig.rows;
  const int above = sheared && blockIdx.x > 0 ? kConfig.sector - 1 : 0,
            below = left < kConfig.rows ? static_cast<int>(left) : kConfig.rows;
  if (below == kConfig.rows && tile.columns == kConfig.columns && (above > 0 || !sheared)) {
    move_tile<true>(shared, tile, tiles.ld_in, tiles.ld_out, above, below);
  } else {
    move_tile<false>(shared, tile, tiles.ld_in, tiles.ld_out, above, below);
  }
}

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(call.out) / 4);
  const std::int64_t steps =
      address | (p.columns > 1 ? p.ld_out : 0) | (p.batch > 1 ? p.stride_out : 0);
  const bool sheared = steps % kConfig.sector != 0;
  Call covered = call;  // the last rows of a sheared tile may be those above another
  if (sheared) covered.problem.rows += kConfig.sector - 1;
  launch_tiles<kConfig.rows, kConfig.columns>(covered, stream, dim3(kConfig.threads),
                                              kConfig.shared_bytes(), transpose, p.rows, sheared);
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

WARPLADDER_RUNG(09_whole_sectors) = {.idea = "tiles sheared so that whole sectors are written",
                                     .accepts = "every problem; wants a large one",
                                     .launch = launch_call<launch>,
                                     .predict = predict_call<predict>,
                                     .takes = out_of_place,
                                     .needs = {.shared_bytes = kConfig.shared_bytes()}};

}  // namespace warpladder::transpose
