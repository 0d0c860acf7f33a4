#pragma once
// Few lines of X times many of Y in even shares: the device code of row_28_even_shares. A CTA's
// warps may part a tile's k among them, round by round.

#include "ops/sgemm/join_slices.hpp"
#include "ops/sgemm/line_shares.hpp"
#include "ops/sgemm/place_along.hpp"
#include "ops/sgemm/rung_lines.hpp"
#include "parts/outer_product.hpp"
#include "parts/ptx/cp_async.hpp"
#include "parts/ptx/dependent_launch.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Of all tiles' turns a CTA takes an even share, `unit` turns at a time. Where that parts tiles, it
// lays its sums of them down in `partial`. x_fours: X lies along k, as Y does, and may be copied by
// fours.
struct SharedLines : FewLines {
  parts::Divisor turns, rows_of_c;
  parts::EvenParts shares;
  int unit, rounds, part_bits;  // rounds: of a tile; part_bits: of the number of parts
  int of_tile, sums_of_tile;    // lines of Y, and their sums
  float* partial;
  bool x_fours;

  __host__ __device__ __forceinline__ int first_turn(int cta) const {
    return shares.first(cta) * unit;
  }
};

// A round of k as the warp's lanes read it. Lines along k lie as place_along() says.
template <class C>
union LineStage {
  struct {
    float y[C::along ? C::lines * C::depth : 4], x[C::rows * C::depth];
  };
  float sums[C::rows][C::lines + 8];  // once a tile is multiplied
};
// One is multiplied while the other one is copied.
template <class C>
struct LineStages {
  LineStage<C> of[kWarpsOfLines][2];
};
// What a lane has read of its own lines across k.
template <class C>
struct LinesAhead {
  float y[C::along ? 1 : C::depth][C::along ? 1 : C::lines / 32];
};

// Where a warp is in a tile: Y's first line of it, and of its rounds.
template <class C>
struct LinesTile {
  LineOperands of;
  std::int64_t line;
  int round;

  __device__ __forceinline__ LinesTile(const SharedLines& f, unsigned tile, int turn) {
    of = operands_of(f, tile);
    const int warp = threadIdx.x / 32;
    line = (of.block * (kWarpsOfLines >> f.part_bits) + (warp >> f.part_bits)) * C::lines;
    round = turn * f.parts + (warp & (f.parts - 1));
  }
};

// The copies of a warp's rounds, tile after tile.
template <class C>
class LineCopies {
 public:
  __device__ __forceinline__ LineCopies(const SharedLines& f, unsigned tile, int turn, int turns)
      : tile_(tile), turns_(turns) {
    if (turns_ > 0) enter(f, turn);
  }

  // The next round: to shared memory, and lines across k to `ahead`. Behind the last one, nothing.
  __device__ __forceinline__ void copy_next(LineStage<C>& stage, LinesAhead<C>& ahead,
                                            const SharedLines& f) {
    if (turns_ > 0) {
      if constexpr (!C::along) read_y(ahead, f);
      if (left_ >= C::depth && lines_ >= C::lines) {
        copy<true>(stage, f);
      } else if (left_ > 0) {
        copy<false>(stage, f);
      }
      left_ -= f.parts * C::depth;
      x_ += f.parts * C::depth * f.x_k;
      y_ += f.parts * C::depth * (C::along ? 1 : f.ldy);
      --turns_;
      if (--of_tile_ == 0 && turns_ > 0) {
        ++tile_;
        enter(f, 0);
      }
    }
    ptx::cp_async_commit();
  }

 private:
  // A line of a round has so many lanes that copy it, or one that reads it.
  static constexpr int kLanes = C::depth / C::width, kAcross = 32 / kLanes;
  __device__ __forceinline__ static int line() {
    return C::along ? threadIdx.x % 32 / kLanes : threadIdx.x % 32;
  }
  __device__ __forceinline__ static int depth() {
    return C::along ? threadIdx.x % kLanes * C::width : 0;
  }

  __device__ __forceinline__ void enter(const SharedLines& f, int turn) {
    const LinesTile<C> tile(f, tile_, turn);
    const std::int64_t k0 = std::int64_t{tile.round} * C::depth, lines = f.lines - tile.line;
    of_tile_ = static_cast<int>(f.turns.by) - turn;
    left_ = static_cast<int>(f.gemm.k - k0);
    lines_ = lines < C::lines ? static_cast<int>(lines) : C::lines;
    x_ = tile.of.x + k0 * f.x_k;
    y_ = C::along ? tile.of.y + (tile.line + line()) * f.ldy + k0 + depth()
                  : tile.of.y + k0 * f.ldy + tile.line + line();
  }

  // kWhole: all of the round exists. What does not becomes zero.
  template <bool kWhole>
  __device__ __forceinline__ void copy(LineStage<C>& stage, const SharedLines& f) const {
    if constexpr (C::along) {
      copy_y<kWhole>(stage.y, f);
      if (f.x_fours) return copy_x_by_fours<kWhole>(stage.x, f);
    }
    f.x_k == 1 ? copy_x_along<kWhole>(stage.x, f) : copy_x_across<kWhole>(stage.x, f);
  }
  template <bool kWhole>
  __device__ __forceinline__ void copy_y(float* stage, const SharedLines& f) const {
    const int bytes = kWhole ? 4 * C::width : 4 * max(0, min(C::width, left_ - depth()));
    const float* from = y_;
    WARPLADDER_UNROLL
    for (int l = 0; l < C::lines; l += kAcross, from += kAcross * f.ldy) {
      ptx::cp_async<4 * C::width>(
          stage + place_along<C::depth>(line() + l, depth() / 4) + depth() % 4, from,
          kWhole || line() + l < lines_ ? bytes : 0);
    }
  }
  // In one place alone: where a loop's first loads stand ahead of it, ptxas may wait for the wrong
  // ones (DECISIONS 108).
  __device__ __forceinline__ void read_y(LinesAhead<C>& ahead, const SharedLines& f) const {
    const float* from = y_;
    WARPLADDER_UNROLL
    for (int k = 0; k < C::depth; ++k, from += f.ldy) {
      WARPLADDER_UNROLL
      for (int j = 0; j < C::lines / 32; ++j) {
        ahead.y[k][j] = k < left_ && line() + 32 * j < lines_ ? __ldg(from + 32 * j) : 0;
      }
    }
  }

  // Rows of X that do not exist repeat the last one; nothing of them is stored.
  template <bool kWhole>
  __device__ __forceinline__ void copy_x_by_fours(float* stage, const SharedLines& f) const {
    constexpr int kPieces = C::depth / 4, kRows = 32 / kPieces;
    const int lane = threadIdx.x % 32, piece = lane % kPieces, last = static_cast<int>(f.rows) - 1;
    WARPLADDER_UNROLL
    for (int i = 0; i < C::rows; i += kRows) {
      const int row = lane / kPieces + i;
      ptx::cp_async<16>(stage + place_along<C::depth>(row, piece),
                        x_ + min(row, last) * f.x_line + 4 * piece,
                        kWhole ? 16 : 4 * max(0, min(4, left_ - 4 * piece)));
    }
  }
  __device__ __forceinline__ static int place_of_x(int row, int k) {
    return C::along ? place_along<C::depth>(row, k / 4) + k % 4 : k * C::rows + row;
  }
  template <bool kWhole>
  __device__ __forceinline__ void copy_x_along(float* stage, const SharedLines& f) const {
    constexpr int kAcross = 32 / C::depth;
    const int lane = threadIdx.x % 32, k = lane % C::depth, last = static_cast<int>(f.rows) - 1;
    WARPLADDER_UNROLL
    for (int i = 0; i < C::rows; i += kAcross) {
      const int row = lane / C::depth + i;
      ptx::cp_async<4>(stage + place_of_x(row, k), x_ + min(row, last) * f.x_line + k,
                       kWhole || k < left_ ? 4 : 0);
    }
  }
  template <bool kWhole>
  __device__ __forceinline__ void copy_x_across(float* stage, const SharedLines& f) const {
    constexpr int kAtATime = 32 / C::rows;
    const int lane = threadIdx.x % 32, row = lane % C::rows, last = static_cast<int>(f.rows) - 1;
    const float* from = x_ + min(row, last) * f.x_line + lane / C::rows * f.x_k;
    WARPLADDER_UNROLL
    for (int i = 0; i < C::depth; i += kAtATime, from += kAtATime * f.x_k) {
      const int k = lane / C::rows + i;
      ptx::cp_async<4>(stage + place_of_x(row, k), from, kWhole || k < left_ ? 4 : 0);
    }
  }

  unsigned tile_;
  int turns_, of_tile_, left_, lines_;
  const float *x_, *y_;
};

// Where a lane's sums lie in the warp's tile: rows row + i·row_step, lines of Y line + j·line_step.
// Along k lanes stand 4 by 8, so that neighbours share what they read of either operand; across k a
// lane has all rows.
template <class C>
struct LanePlace {
  static constexpr int rows = C::along ? C::rows / 4 : C::rows,
                       lines = C::along ? C::lines / 8 : C::lines / 32, row_step = C::along ? 4 : 1,
                       line_step = C::along ? 8 : 32;
  int row, line;
  __device__ __forceinline__ LanePlace() {
    const int lane = threadIdx.x % 32;
    row = C::along ? lane % 2 + lane / 16 * 2 : 0;
    line = C::along ? lane / 2 % 8 : lane;
  }
};
template <class C>
using LaneSums = float[LanePlace<C>::rows][LanePlace<C>::lines];

// A lane's sums of a tile. Along k cublasSgemm shares k out among many threads, and loses less than
// long sums do. So what a sum rounds off is taken back from the next addend.
template <class C>
struct TileSums {
  LaneSums<C> sum = {};
  float off[C::along ? LanePlace<C>::rows : 1][C::along ? LanePlace<C>::lines : 1] = {};

  __device__ __forceinline__ void add(const LaneSums<C>& part) {
    WARPLADDER_UNROLL
    for (int i = 0; i < LanePlace<C>::rows; ++i) {
      WARPLADDER_UNROLL
      for (int j = 0; j < LanePlace<C>::lines; ++j) {
        if constexpr (C::along) {
          add(sum[i][j], off[i][j], part[i][j]);
        } else {
          sum[i][j] += part[i][j];
        }
      }
    }
  }

 private:
  // An infinite sum takes nothing back, or it would become no number.
  __device__ __forceinline__ static void add(float& sum, float& off, float part) {
    constexpr float kLargest = 0x1.fffffep127f;
    const float right = part - off, total = sum + right;
    off = fabsf(total) <= kLargest ? (total - sum) - right : 0;
    sum = total;
  }
};

// Pieces `first` to `end` of a round.
template <class C>
__device__ __forceinline__ void multiply_along(LaneSums<C>& part, const LineStage<C>& stage,
                                               const LanePlace<C>& at, int first, int end) {
  WARPLADDER_UNROLL
  for (int piece = first; piece < end; ++piece) {
    float x[LanePlace<C>::rows][4];
    WARPLADDER_UNROLL
    for (int i = 0; i < at.rows; ++i) {
      parts::load4(x[i], stage.x + place_along<C::depth>(at.row + i * at.row_step, piece));
    }
    WARPLADDER_UNROLL
    for (int j = 0; j < at.lines; ++j) {
      float y[4];
      parts::load4(y,
                   stage.y + place_along<C::depth>(at.line, piece) + j * at.line_step * C::depth);
      WARPLADDER_UNROLL
      for (int i = 0; i < at.rows; ++i) {
        WARPLADDER_UNROLL
        for (int k = 0; k < 4; ++k) part[i][j] += x[i][k] * y[k];
      }
    }
  }
}
template <class C>
__device__ __forceinline__ void multiply_across(LaneSums<C>& part, const LineStage<C>& stage,
                                                const LinesAhead<C>& read) {
  WARPLADDER_UNROLL
  for (int k = 0; k < C::depth; ++k) {
    float x[C::rows];
    WARPLADDER_UNROLL
    for (int i = 0; i < C::rows; i += 4) parts::load4(x + i, stage.x + k * C::rows + i);
    parts::add_outer_product(part, x, read.y[k]);
  }
}

// 16 products are added up first: fewer additions in a row lose less.
template <class C>
__device__ __forceinline__ void multiply_round(TileSums<C>& sums, const LineStage<C>& stage,
                                               const LinesAhead<C>& read, const LanePlace<C>& at) {
  LaneSums<C> part = {};
  if constexpr (C::along) {
    constexpr int kPieces = C::depth / 4, kHalf = kPieces / 2;
    LaneSums<C> other = {};
    multiply_along<C>(part, stage, at, 0, kHalf);
    multiply_along<C>(other, stage, at, kHalf, kPieces);
    WARPLADDER_UNROLL
    for (int i = 0; i < at.rows; ++i) {
      WARPLADDER_UNROLL
      for (int j = 0; j < at.lines; ++j) part[i][j] += other[i][j];
    }
  } else {
    multiply_across<C>(part, stage, read);
  }
  sums.add(part);
}

// Lays a warp's sums down.
template <class C>
__device__ __forceinline__ void lay_down(LineStage<C>& stage, const LaneSums<C>& sum,
                                         const LanePlace<C>& at) {
  WARPLADDER_UNROLL
  for (int i = 0; i < at.rows; ++i) {
    WARPLADDER_UNROLL
    for (int j = 0; j < at.lines; ++j) {
      stage.sums[at.row + i * at.row_step][at.line + j * at.line_step] = sum[i][j];
    }
  }
}
// An element of a tile, over the warps that part its k. Added in pairs, eight parts lose half of
// what they lose one after the other.
template <class C>
__device__ __forceinline__ float sum_of_parts(const SharedLines& f, const LineStages<C>& stages,
                                              int stage, int row, int line) {
  const int warp = line / C::lines * f.parts;
  float part[kWarpsOfLines];
  WARPLADDER_UNROLL
  for (int i = 0; i < kWarpsOfLines; ++i) {
    part[i] = i < f.parts ? stages.of[warp + i][stage].sums[row][line % C::lines] : 0;
  }
  WARPLADDER_UNROLL
  for (int apart = 1; apart < kWarpsOfLines; apart *= 2) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kWarpsOfLines; i += 2 * apart) part[i] += part[i + apart];
  }
  return part[0];
}

// Element e of a tile, whose lines are a power of two: neighbours are C's neighbours.
struct TileElement {
  int row, line;
  float* c;
  bool exists;

  __device__ __forceinline__ TileElement(const SharedLines& f, unsigned tile, int e) {
    const int lines = f.of_tile;
    const LineOperands of = operands_of(f, tile);
    const std::int64_t first = of.block * lines;
    const auto [by_rows, of_rows] = f.rows_of_c(e);
    row = f.by_row ? e >> (__ffs(lines) - 1) : static_cast<int>(of_rows);
    line = f.by_row ? e & (lines - 1) : static_cast<int>(by_rows);
    c = of.c + row * f.c_x + (first + line) * f.c_y;
    exists = e < f.rows * lines && first + line < f.lines;
  }
};

// Where a CTA's sums of a tile lie that it shares with others: of the one that it begins, or else.
__device__ __forceinline__ float* partial_sums(const SharedLines& f, int cta, bool begins) {
  return f.partial + (2 * std::int64_t{cta} + begins) * f.sums_of_tile;
}

// Adds up what the warps have of a tile and stores it, or lays it down for the join. Neighbouring
// threads store neighbours.
template <class C>
__device__ __forceinline__ void store_tile(const SharedLines& f, const LineStages<C>& stages,
                                           int stage, unsigned tile, float* partial) {
  const int elements = static_cast<int>(f.rows) * f.of_tile;
  for (int e = threadIdx.x; e < elements; e += 32 * kWarpsOfLines) {
    const TileElement at_c(f, tile, e);
    if (!at_c.exists) continue;
    const float total = sum_of_parts<C>(f, stages, stage, at_c.row, at_c.line);
    if (partial) {
      partial[e] = total;
    } else {
      store_scaled(at_c.c, f.gemm.alpha, total, f.gemm.beta);
    }
  }
}

template <class C>
static __global__ void __launch_bounds__(32 * kWarpsOfLines, 2)
    multiply_line_shares(SharedLines f) {
  auto& stages = *runtime::dynamic_shared<LineStages<C>>();
  LineStage<C>(&own)[2] = stages.of[threadIdx.x / 32];
  const int cta = static_cast<int>(blockIdx.x), first = f.first_turn(cta),
            of_tile = static_cast<int>(f.turns.by);
  int left = f.first_turn(cta + 1) - first;
  auto [tile, done] = f.turns(first);  // how much of the tile others do
  LineCopies<C> copies(f, tile, done, left);
  const LanePlace<C> at;
  LinesAhead<C> ahead = {};
  TileSums<C> sums;
  int turns = min(left, of_tile - static_cast<int>(done)), next = turns,
      rounds = f.rounds - LinesTile<C>(f, tile, done).round, stage = 0;
  bool is_copied = false;
  WARPLADDER_NO_UNROLL
  while (left > 0) {
    ptx::cp_async_wait<0>();
    __syncwarp();  // all lanes' copies are there, and the stage to be filled is read no more
    const LinesAhead<C> read = ahead;
    copies.copy_next(own[stage], ahead, f);
    stage ^= 1;
    if (!is_copied) {  // the first round is under way
      is_copied = true;
      continue;
    }
    if (rounds > 0) multiply_round<C>(sums, own[stage], read, at);
    rounds -= f.parts;
    if (--next > 0) continue;
    left -= turns;
    if (left == 0) ptx::allow_next_kernel();
    __syncwarp();  // the stage is read no more
    lay_down<C>(own[stage], sums.sum, at);
    sums = {};
    __syncthreads();  // all parts are there
    store_tile<C>(f, stages, stage, tile,
                  turns == of_tile ? nullptr : partial_sums(f, cta, done == 0));
    __syncthreads();  // they are read no more
    ++tile;
    done = 0;
    turns = next = min(left, of_tile);
    rounds = f.rounds - LinesTile<C>(f, tile, 0).round;
  }
}

// The tile that ends in a CTA's share and began before it: adds up what all have of it, in order.
// kJoiners threads take a share of the CTAs each.
template <int kJoiners>
static __global__ void __launch_bounds__(kJoinThreads) join_line_shares(SharedLines f) {
  constexpr int kElements = kJoinThreads / kJoiners;
  const int cta = static_cast<int>(blockIdx.x) + 1;
  const auto [tile, done] = f.turns(f.first_turn(cta));
  const int begin = static_cast<int>(tile * f.turns.by), end = begin + static_cast<int>(f.turns.by);
  if (done == 0 || f.first_turn(cta + 1) < end) return;
  const int first = f.shares.part_of(begin / f.unit), at = threadIdx.x % kElements,
            joiner = threadIdx.x / kElements, e = static_cast<int>(blockIdx.y) * kElements + at;
  const TileElement at_c(f, tile, e);
  ptx::wait_for_previous_kernel();  // its sums are there
  float sum = 0;
  if (at_c.exists) {
    WARPLADDER_UNROLL_BY(4)
    for (int i = first + joiner; i <= cta; i += kJoiners) {
      sum += partial_sums(f, i, i == first)[e];
    }
  }
  if constexpr (kJoiners > 1) {
    __shared__ float share[kJoiners][kElements];
    share[joiner][at] = sum;
    __syncthreads();  // all shares are there
    if (joiner > 0) return;
    WARPLADDER_UNROLL
    for (int other = 1; other < kJoiners; ++other) sum += share[other][at];
  }
  if (at_c.exists) store_scaled(at_c.c, f.gemm.alpha, sum, f.gemm.beta);
}

template <class C>
static void launch_shares(SharedLines f, const SharedTiles& shared, runtime::StreamView& stream) {
  const int lines = lines_of_tile<C>(shared.part_bits);
  f.blocks = parts::Divisor::of(tiles(f.lines, lines));
  f.turns = parts::Divisor::of(shared.turns);
  f.rows_of_c = parts::Divisor::of(f.rows);
  f.unit = shared.parted ? 1 : shared.turns;
  f.shares =
      parts::EvenParts::of(static_cast<int>(shared.tiles) * shared.turns / f.unit, shared.ctas);
  f.rounds = shared.rounds;
  f.part_bits = shared.part_bits;
  f.of_tile = lines;
  f.sums_of_tile = C::rows * lines;
  f.parts = 1 << shared.part_bits;
  f.partial = static_cast<float*>(f.gemm.workspace);
  const auto ctas = static_cast<unsigned>(shared.ctas);
  runtime::launch(stream, {dim3(ctas), dim3(32 * kWarpsOfLines), sizeof(LineStages<C>)},
                  multiply_line_shares<C>, f);
  if (!shared.parted || ctas == 1) return;
  const bool many = ctas > kMostJoiners * shared.tiles;
  const std::int64_t blocks =
      tiles(f.rows * lines, many ? kJoinThreads / kMostJoiners : kJoinThreads);
  runtime::LaunchShape shape{dim3(ctas - 1, static_cast<unsigned>(blocks)), dim3(kJoinThreads)};
  shape.overlaps_previous = true;
  runtime::launch(stream, shape, many ? join_line_shares<kMostJoiners> : join_line_shares<1>, f);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
