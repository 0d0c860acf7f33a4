#pragma once
// Products in tiles that fit them: the device code of row_29_fitted_tiles.

#include <bit>

#include "ops/sgemm/fitted_tiles.hpp"
#include "ops/sgemm/rung_operands.hpp"
#include "parts/outer_product.hpp"
#include "parts/ptx/cp_async.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Both operands are seen as lines of length k: A's rows and B's columns. x_fours: four neighbours
// of X may be copied at once; c_fours: of C stored, and beta is 0.
struct FittedGemm {
  Gemm gemm;
  Batch batch;
  parts::Divisor tiles, tiles_y;  // of a product, and side by side along Y
  int lines_x, lines_y, k;
  bool rows_are_x, x_along, y_along, x_fours, y_fours, c_fours;
};

// The largest power of two up to `most` and a warp's lanes.
constexpr int piece_of(int most) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(most < 32 ? most : 32)));
}

// A step of kLines lines in shared memory, as [k][line]. The pitch is an odd multiple of 4: of
// words along k, eight of four lines at once lie on different banks.
template <int kLines>
struct FittedLines {
  static constexpr int depth = 16, pitch = kLines / 4 % 2 ? kLines : kLines + 4;
  float at[depth][pitch];
};

// A warp's copies of an operand. What lies beyond its last line repeats that: nothing of it is
// stored, and no copy needs a condition.
template <int kLines>
struct FittedCopier {
  using To = FittedLines<kLines>;
  const float* from;  // the next step
  std::int64_t ld;
  int lines;  // that exist, of kLines
  bool along, fours;

  __device__ __forceinline__ FittedCopier(const float* data, std::int64_t ld_, int line0, int k0,
                                          int all, bool along_, bool fours_)
      : from(data + (along_ ? line0 * ld_ + k0 : k0 * ld_ + line0)),
        ld(ld_),
        lines(min(all - line0, kLines)),
        along(along_),
        fours(fours_) {}
  __device__ __forceinline__ void advance(int k) { from += along ? k : k * ld; }

  // Of the step, `left` of k exist: kWhole, all of them. The others become zeros.
  template <bool kWhole>
  __device__ __forceinline__ void copy(To& to, int left) const {
    if (along) {
      copy_along<kWhole>(to, left);
    } else if (fours) {
      copy_across<kWhole, 4, 0>(to, left);
    } else {
      copy_across<kWhole, 1, 0>(to, left);
    }
  }

 private:
  // Eight of k of four lines at once.
  template <bool kWhole>
  __device__ __forceinline__ void copy_along(To& to, int left) const {
    const int line = threadIdx.x % 32 / 8, k = threadIdx.x % 8;
    const float* at = from + min(line, lines - 1) * ld + k;
    WARPLADDER_UNROLL
    for (int j = 0; j < kLines; j += 4) {
      WARPLADDER_UNROLL
      for (int first = 0; first < To::depth; first += 8) {
        ptx::cp_async<4>(&to.at[first + k][j + line], at + first,
                         kWhole || first + k < left ? 4 : 0);
      }
      if (j + 4 + line < lines) at += 4 * ld;
    }
  }
  // By pieces of a row whose words are a power of two, kWords at a time.
  template <bool kWhole, int kWords, int kFirst>
  __device__ __forceinline__ void copy_across(To& to, int left) const {
    if constexpr (kFirst < kLines) {
      constexpr int kPiece = piece_of((kLines - kFirst) / kWords), kRows = 32 / kPiece;
      const int lane = threadIdx.x % 32, line = kFirst + lane % kPiece * kWords,
                row = lane / kPiece;
      const float* at = from + row * ld + min(line, lines - kWords);
      WARPLADDER_UNROLL
      for (int k = 0; k < To::depth; k += kRows, at += kRows * ld) {
        if (kRows > To::depth && row >= To::depth) break;
        ptx::cp_async<4 * kWords>(&to.at[k + row][line], at,
                                  kWhole || k + row < left ? 4 * kWords : 0);
      }
      copy_across<kWhole, kWords, kFirst + kPiece * kWords>(to, left);
    }
  }
};

template <class C>
struct FittedStage {
  FittedLines<C::tile_x> x;
  FittedLines<C::tile_y> y;
};
// Rows of sums in shared memory, so far apart that fours of two rows lie on different banks.
constexpr int pitch_of_sums(int length) { return length + 4; }
// One stage is multiplied while the other one is copied; then the sums lie there.
template <class C>
union FittedShared {
  FittedStage<C> stage[2];
  float sums[pitch_of_sums(C::tile_x) * pitch_of_sums(C::tile_y)];
};

// Which lines a lane has: fours of neighbours first, then two, then one.
template <int kCount, int kLanes>
__device__ __forceinline__ int fitted_line(int lane, int i) {
  constexpr int kFours = kCount / 4 * 4, kTwo = kFours + kCount % 4 / 2 * 2;
  return i < kFours ? i / 4 * (4 * kLanes) + 4 * lane + i % 4
         : i < kTwo ? kFours * kLanes + 2 * lane + i - kFours
                    : kTwo * kLanes + lane;
}
template <int kCount, int kLanes>
__device__ __forceinline__ void load_fitted(float (&to)[kCount], const float* row, int lane) {
  constexpr int kFours = kCount / 4 * 4, kTwo = kFours + kCount % 4 / 2 * 2;
  WARPLADDER_UNROLL
  for (int i = 0; i < kFours; i += 4) {
    parts::load4(to + i, row + fitted_line<kCount, kLanes>(lane, i));
  }
  if constexpr (kTwo > kFours) {
    const float2 two =
        *reinterpret_cast<const float2*>(row + fitted_line<kCount, kLanes>(lane, kFours));
    to[kFours] = two.x;
    to[kFours + 1] = two.y;
  }
  if constexpr (kCount > kTwo) to[kTwo] = row[fitted_line<kCount, kLanes>(lane, kTwo)];
}

// A lane's place in its warp's tile. Neighbours share what they read of either operand.
struct FittedPlace {
  int x, y;
  __device__ __forceinline__ FittedPlace() {
    const int lane = threadIdx.x % 32;
    x = lane % 2 + lane / 16 * 2;
    y = lane / 2 % 8;
  }
};
template <class C>
using FittedSums = float[C::lane_x][C::lane_y];

// Adds up a step apart first: short sums lose less.
template <class C>
__device__ __forceinline__ void add_fitted_step(FittedSums<C>& sum, const FittedStage<C>& stage,
                                                const FittedPlace& at, int left) {
  FittedSums<C> part = {};
  const int depth = min(left, C::depth);
  WARPLADDER_NO_UNROLL
  for (int k = 0; k < depth; k += 4) {
    WARPLADDER_UNROLL
    for (int i = 0; i < 4; ++i) {
      float x[C::lane_x], y[C::lane_y];
      load_fitted<C::lane_x, C::lanes_x>(x, stage.x.at[k + i], at.x);
      load_fitted<C::lane_y, C::lanes_y>(y, stage.y.at[k + i], at.y);
      parts::add_outer_product(part, x, y);
    }
  }
  WARPLADDER_UNROLL
  for (int i = 0; i < C::lane_x; ++i) {
    WARPLADDER_UNROLL
    for (int j = 0; j < C::lane_y; ++j) sum[i][j] += part[i][j];
  }
}

// Where a tile lies in C: `lines` of `length` neighbours.
struct FittedTarget {
  float* c;
  std::int64_t ld;
  int lines, length;
};

// A lane's sums straight to C, four neighbours at once. kRowsAreX: they lie along Y.
template <class C, bool kRowsAreX>
__device__ __forceinline__ void store_fours(const FittedTarget& to, const FittedSums<C>& sum,
                                            const FittedPlace& at, float alpha) {
  constexpr int kLines = kRowsAreX ? C::lane_x : C::lane_y,
                kLength = kRowsAreX ? C::lane_y : C::lane_x;
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kLines; ++i) {
    const int line = kRowsAreX ? fitted_line<C::lane_x, C::lanes_x>(at.x, i)
                               : fitted_line<C::lane_y, C::lanes_y>(at.y, i);
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < kLength; j += 4) {
      const int first = kRowsAreX ? fitted_line<C::lane_y, C::lanes_y>(at.y, j)
                                  : fitted_line<C::lane_x, C::lanes_x>(at.x, j);
      const auto value = [&](int e) { return alpha * (kRowsAreX ? sum[i][j + e] : sum[j + e][i]); };
      if (line >= to.lines || first >= to.length) continue;
      *reinterpret_cast<float4*>(to.c + line * to.ld + first) =
          make_float4(value(0), value(1), value(2), value(3));
    }
  }
}

// The CTA's warps add up their sums, which lie in rows as C's do, and store them. They store by
// pieces of kLength neighbours that are powers of two.
template <class C, int kLines, int kLength, int kFirst, bool kAlone>
__device__ __forceinline__ void store_rows(const FittedShared<C>* shared, const FittedTarget& to,
                                           const Gemm& g) {
  if constexpr (kFirst < kLength) {
    constexpr int kPiece = piece_of(kLength - kFirst), kAtOnce = 32 / kPiece;
    const int lane = threadIdx.x % 32, column = kFirst + lane % kPiece, row = lane / kPiece,
              warp = kAlone ? 0 : threadIdx.x / 32, warps = kAlone ? 1 : blockDim.x / 32;
    float* c = to.c + (row + warp * kAtOnce) * to.ld + column;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = warp * kAtOnce; i < kLines; i += warps * kAtOnce, c += warps * kAtOnce * to.ld) {
      if (i + row >= to.lines || column >= to.length) continue;
      float sum = 0;
      for (int w = 0; w < warps; ++w)
        sum += shared[w].sums[(i + row) * pitch_of_sums(kLength) + column];
      store_scaled(c, g.alpha, sum, g.beta);
    }
    store_rows<C, kLines, kLength, kFirst + kPiece, kAlone>(shared, to, g);
  }
}

// Lays a lane's neighbours down in a row of its warp's sums.
template <int kCount, int kLanes>
__device__ __forceinline__ void lay_down_fitted(float* row, const float (&from)[kCount], int lane) {
  constexpr int kFours = kCount / 4 * 4, kTwo = kFours + kCount % 4 / 2 * 2;
  const auto at = [&](int i) { return row + fitted_line<kCount, kLanes>(lane, i); };
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kFours; i += 4) {
    *reinterpret_cast<float4*>(at(i)) = make_float4(from[i], from[i + 1], from[i + 2], from[i + 3]);
  }
  if constexpr (kTwo > kFours) {
    *reinterpret_cast<float2*>(at(kFours)) = make_float2(from[kFours], from[kFours + 1]);
  }
  if constexpr (kCount > kTwo) *at(kTwo) = from[kTwo];
}
template <class C, bool kRowsAreX>
__device__ __forceinline__ void lay_down_sums(FittedShared<C>& own, const FittedSums<C>& sum,
                                              const FittedPlace& at) {
  if constexpr (kRowsAreX) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < C::lane_x; ++i) {
      const int x = fitted_line<C::lane_x, C::lanes_x>(at.x, i);
      lay_down_fitted<C::lane_y, C::lanes_y>(own.sums + x * pitch_of_sums(C::tile_y), sum[i], at.y);
    }
  } else {
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < C::lane_y; ++j) {
      const int y = fitted_line<C::lane_y, C::lanes_y>(at.y, j);
      float line[C::lane_x];
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < C::lane_x; ++i) line[i] = sum[i][j];
      lay_down_fitted<C::lane_x, C::lanes_x>(own.sums + y * pitch_of_sums(C::tile_x), line, at.x);
    }
  }
}

template <class C, bool kRowsAreX>
__device__ __forceinline__ void store_fitted(FittedShared<C>* shared, const FittedGemm& f, float* c,
                                             int x0, int y0, const FittedSums<C>& sum,
                                             const FittedPlace& at) {
  const int row = kRowsAreX ? x0 : y0, column = kRowsAreX ? y0 : x0;
  const Gemm& g = f.gemm;
  const FittedTarget to{
      c + row * g.ldc + column, g.ldc,
      static_cast<int>(min(g.m - row, std::int64_t{kRowsAreX ? C::tile_x : C::tile_y})),
      static_cast<int>(min(g.n - column, std::int64_t{kRowsAreX ? C::tile_y : C::tile_x}))};
  if constexpr (stores_fours<C>(kRowsAreX)) {
    if (f.c_fours && blockDim.x == 32) return store_fours<C, kRowsAreX>(to, sum, at, g.alpha);
  }
  constexpr int kLines = kRowsAreX ? C::tile_x : C::tile_y,
                kLength = kRowsAreX ? C::tile_y : C::tile_x;
  lay_down_sums<C, kRowsAreX>(shared[threadIdx.x / 32], sum, at);
  __syncthreads();  // all sums are there
  blockDim.x == 32 ? store_rows<C, kLines, kLength, 0, true>(shared, to, g)
                   : store_rows<C, kLines, kLength, 0, false>(shared, to, g);
}

// A CTA has a tile, of whose k its warps take a step each in turn.
template <class C>
static __global__ void __launch_bounds__(32 * kMostFittedWarps, C::resident)
    multiply_fitted(FittedGemm f) {
  auto* const shared = runtime::dynamic_shared<FittedShared<C>>();
  FittedStage<C>(&own)[2] = shared[threadIdx.x / 32].stage;
  const auto [product, tile] = f.tiles(blockIdx.x);
  const auto [x, y] = f.tiles_y(tile);
  const ProductOperands of = operands_of(f.gemm, f.batch, product);
  const Gemm& g = f.gemm;
  const int x0 = static_cast<int>(x) * C::tile_x, y0 = static_cast<int>(y) * C::tile_y,
            first = static_cast<int>(threadIdx.x) / 32 * C::depth,
            step = static_cast<int>(blockDim.x) / 32 * C::depth, turns = (f.k + step - 1) / step;
  FittedCopier<C::tile_x> of_x(f.rows_are_x ? of.a : of.b, f.rows_are_x ? g.lda : g.ldb, x0, first,
                               f.lines_x, f.x_along, f.x_fours);
  FittedCopier<C::tile_y> of_y(f.rows_are_x ? of.b : of.a, f.rows_are_x ? g.ldb : g.lda, y0, first,
                               f.lines_y, f.y_along, f.y_fours);
  int to_copy = f.k - first, left = to_copy;
  const FittedPlace at;
  FittedSums<C> sum = {};
  WARPLADDER_NO_UNROLL
  for (int turn = -1; turn < turns; ++turn) {  // before the first one nothing is there
    ptx::cp_async_wait<0>();
    __syncwarp();  // all lanes' copies are there, and the stage to be filled is read no more
    FittedStage<C>& next = own[(turn + 1) % 2];
    if (to_copy >= C::depth) {
      of_x.template copy<true>(next.x, to_copy);
      of_y.template copy<true>(next.y, to_copy);
    } else if (to_copy > 0) {
      of_x.template copy<false>(next.x, to_copy);
      of_y.template copy<false>(next.y, to_copy);
    }
    ptx::cp_async_commit();
    to_copy -= step;
    of_x.advance(step);
    of_y.advance(step);
    if (turn < 0) continue;
    add_fitted_step<C>(sum, own[turn % 2], at, left);
    left -= step;
  }
  __syncwarp();  // the stages are read no more
  f.rows_are_x ? store_fitted<C, true>(shared, f, of.c, x0, y0, sum, at)
               : store_fitted<C, false>(shared, f, of.c, x0, y0, sum, at);
}

template <class C>
void launch_fitted(const Gemm& g, const Batch& batch, bool trans_a, bool trans_b,
                   const FittedPlan& plan, runtime::StreamView& stream) {
  const bool rows = plan.rows_are_x,
             a = trans_a && comes_by_fours(g.a, g.lda, g.m, batch.stride_a, batch),
             b = !trans_b && comes_by_fours(g.b, g.ldb, g.n, batch.stride_b, batch);
  const auto lines_x = static_cast<int>(rows ? g.m : g.n),
             lines_y = static_cast<int>(rows ? g.n : g.m);
  const std::int64_t across = tiles(lines_y, C::tile_y),
                     of_product = tiles(lines_x, C::tile_x) * across;
  const FittedGemm f{
      .gemm = g,
      .batch = batch,
      .tiles = parts::Divisor::of(of_product),
      .tiles_y = parts::Divisor::of(across),
      .lines_x = lines_x,
      .lines_y = lines_y,
      .k = static_cast<int>(g.k),
      .rows_are_x = rows,
      .x_along = rows ? !trans_a : trans_b,
      .y_along = rows ? trans_b : !trans_a,
      .x_fours = rows ? a : b,
      .y_fours = rows ? b : a,
      .c_fours = g.beta == 0.0f && comes_by_fours(g.c, g.ldc, g.n, batch.stride_c, batch),
  };
  const auto warps = static_cast<unsigned>(plan.warps);
  runtime::launch(stream,
                  {dim3(static_cast<unsigned>(of_product * batch.count)), dim3(32 * warps),
                   warps * sizeof(FittedShared<C>)},
                  multiply_fitted<C>, f);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
