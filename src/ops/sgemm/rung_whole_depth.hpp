#pragma once
// Products in tiles that warps share, all of k at once: the device code of row_32_whole_depth.

#include "ops/sgemm/rung_operands.hpp"
#include "ops/sgemm/store_lanes.hpp"
#include "ops/sgemm/whole_depth.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// How a CTA copies its part of an operand. Rows of memory are lines of length k (A's rows, B's
// columns) or lie across them. `lanes` neighbouring threads, a power of two, copy as many pieces of
// a row, of `width` neighbours each.
struct WholeCopies {
  int width, shift_of_lanes;
  int pitch;  // of a row in shared memory
};

// A CTA's tile has warps_x·C::warp_x rows by warps_y·C::warp_y columns of C, and `depth` of k.
struct WholeGemm {
  Gemm gemm;
  Batch batch;
  parts::Divisor tiles, tiles_y;  // of a product, and side by side
  parts::Divisor warps_y;
  WholeCopies a, b;
  int rows, columns, depth, words_of_a;
  bool c_fours;
};

// What a CTA copies: `rows` of memory of `columns` neighbours each, of which so many exist. The
// others become zeros.
struct WholePart {
  const float* from;
  std::int64_t ld;
  int rows, columns, rows_there, columns_there;
};
template <bool kAlong>
__device__ __forceinline__ WholePart whole_part(const float* data, std::int64_t ld, int line,
                                                int lines, std::int64_t k0, int depth,
                                                int depth_there) {
  // Lanes read fours of neighbours.
  const auto fours = [](int count) { return (count + 3) / 4 * 4; };
  return kAlong ? WholePart{data + line * ld + k0, ld, lines, depth, lines, depth_there}
                : WholePart{data + k0 * ld + line, ld, depth, fours(lines), depth_there, lines};
}

template <int kWidth>
__device__ __forceinline__ void copy_whole(float* to, const WholeCopies& copies,
                                           const WholePart& part) {
  const int thread = threadIdx.x, lanes = 1 << copies.shift_of_lanes,
            first = thread >> copies.shift_of_lanes,
            step = static_cast<int>(blockDim.x) >> copies.shift_of_lanes;
  const std::int64_t next = step * part.ld;
  for (int column = (thread & (lanes - 1)) * kWidth; column < part.columns;
       column += lanes * kWidth) {
    const float* from = part.from + first * part.ld + column;
    float* own = to + first * copies.pitch + column;
    const int rows = column < part.columns_there ? part.rows_there : 0;
    int row = first;
    const auto copy = [&] {
      ptx::cp_async<4 * kWidth>(own, from);
      row += step;
      from += next;
      own += step * copies.pitch;
    };
    WARPLADDER_NO_UNROLL
    while (row + 3 * step < rows) {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 4; ++i) copy();
    }
    WARPLADDER_NO_UNROLL
    while (row < rows) copy();
    WARPLADDER_NO_UNROLL
    for (; row < part.rows; row += step, own += step * copies.pitch) {
      WARPLADDER_UNROLL
      for (int i = 0; i < kWidth; ++i) own[i] = 0;
    }
  }
}
__device__ __forceinline__ void copy_whole(float* to, const WholeCopies& copies,
                                           const WholePart& part) {
  switch (copies.width) {
    case 4:
      return copy_whole<4>(to, copies, part);
    case 2:
      return copy_whole<2>(to, copies, part);
    default:
      return copy_whole<1>(to, copies, part);
  }
}

// Where a thread stands: its warp's first row and column in the CTA's tile, and its lane in the
// warp's.
template <class C>
struct WholePlace {
  int row, column, lane_x, lane_y;
  __device__ __forceinline__ explicit WholePlace(const parts::Divisor& warps_y) {
    const int lane = threadIdx.x % 32;
    lane_x = lane / C::lanes_y;
    lane_y = lane % C::lanes_y;
    const auto [down, across] = warps_y(threadIdx.x / 32);
    row = static_cast<int>(down) * C::warp_x;
    column = static_cast<int>(across) * C::warp_y;
  }
};

// The lines of an operand that a lane multiplies. Lines that do not exist repeat the last ones.
template <int kCount, int kLanes, bool kAlong>
class WholeLines {
 public:
  __device__ __forceinline__ WholeLines(const float* tile, int pitch, int first, int lane,
                                        int lines)
      : pitch_(pitch) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kPointers; ++i) {
      const int line = first + line_of<kLanes, kAlong>(lane, kAlong ? i : 4 * i);
      at_[i] = tile + (kAlong ? min(line, lines - 1) * pitch : min(line, (lines - 1) / 4 * 4));
    }
  }

  // The next four of k.
  __device__ __forceinline__ void next(float (&to)[4][kCount]) {
    if constexpr (kAlong) {
      WARPLADDER_UNROLL
      for (int i = 0; i < kCount; ++i) {
        float four[4];
        parts::load4(four, at_[i]);
        WARPLADDER_UNROLL
        for (int j = 0; j < 4; ++j) to[j][i] = four[j];
        at_[i] += 4;
      }
    } else {
      WARPLADDER_UNROLL
      for (int i = 0; i < kPointers; ++i) {
        WARPLADDER_UNROLL
        for (int j = 0; j < 4; ++j) parts::load4(&to[j][4 * i], at_[i] + j * pitch_);
        at_[i] += 4 * pitch_;
      }
    }
  }

 private:
  static constexpr int kPointers = kAlong ? kCount : kCount / 4;
  const float* at_[kPointers];
  int pitch_;
};

template <class C, class X, class Y>
__device__ __forceinline__ void add_fours(float (&sum)[C::lane_x][C::lane_y], X of_x, Y of_y,
                                          int fours) {
  WARPLADDER_NO_UNROLL
  for (int step = 0; step < fours; ++step) {
    float x[4][C::lane_x], y[4][C::lane_y];
    of_x.next(x);
    of_y.next(y);
    WARPLADDER_UNROLL
    for (int j = 0; j < 4; ++j) parts::add_outer_product(sum, x[j], y[j]);
  }
}

template <class C, bool kAAlong, bool kBAlong>
static __global__ void __launch_bounds__(32 * kMostWholeWarps, C::resident(kAAlong&& kBAlong))
    multiply_whole(WholeGemm w) {
  float* const a_tile = runtime::dynamic_shared<float>();
  float* const b_tile = a_tile + w.words_of_a;
  const Gemm& g = w.gemm;
  const auto [product, tile] = w.tiles(blockIdx.x);
  const auto [down, across] = w.tiles_y(tile);
  const ProductOperands of = operands_of(g, w.batch, product);
  const int row0 = static_cast<int>(down) * w.rows, column0 = static_cast<int>(across) * w.columns;
  const int rows = static_cast<int>(min(g.m - row0, std::int64_t{w.rows})),
            columns = static_cast<int>(min(g.n - column0, std::int64_t{w.columns}));
  const WholePlace<C> at(w.warps_y);
  const bool exists = at.row < rows && at.column < columns;
  using X = WholeLines<C::lane_x, C::lanes_x, kAAlong>;
  using Y = WholeLines<C::lane_y, C::lanes_y, kBAlong>;
  const X x(a_tile, w.a.pitch, at.row, at.lane_x, rows);
  const Y y(b_tile, w.b.pitch, at.column, at.lane_y, columns);
  float sum[C::lane_x][C::lane_y] = {};
  WARPLADDER_NO_UNROLL
  for (std::int64_t k = 0; k < g.k; k += w.depth) {
    const int left = static_cast<int>(min(g.k - k, std::int64_t{w.depth})), fours = (left + 3) / 4;
    if (k > 0) __syncthreads();  // nobody reads the part before any more
    copy_whole(a_tile, w.a, whole_part<kAAlong>(of.a, g.lda, row0, rows, k, 4 * fours, left));
    copy_whole(b_tile, w.b, whole_part<kBAlong>(of.b, g.ldb, column0, columns, k, 4 * fours, left));
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncthreads();  // all threads' copies are there
    if (exists) add_fours<C>(sum, x, y, fours);
  }
  if (!exists) return;
  const LaneTarget to{of.c + (row0 + at.row) * g.ldc + column0 + at.column,
                      g.ldc,
                      rows - at.row,
                      columns - at.column,
                      at.lane_x,
                      at.lane_y};
  store_lanes<C, kAAlong, kBAlong>(to, w.c_fours, g.alpha, g.beta, sum);
}

// How many neighbours in memory of an operand's lines, `length` elements long, may be copied at
// once.
inline int width_of(const float* data, std::int64_t ld, std::int64_t length, std::int64_t stride,
                    const Batch& batch) {
  if (batch.arrays) return 1;
  const auto word = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) / 4);
  return width_for(word, ld, length, batch.count > 1 ? stride : 0);
}

template <class C>
WholeGemm whole_gemm(const Gemm& g, const Batch& batch, bool trans_a, bool trans_b,
                     const WholePlan& plan) {
  const int rows = plan.warps_x * C::warp_x, columns = plan.warps_y * C::warp_y,
            depth = whole_depth(g.k);
  const std::int64_t across = tiles(g.n, columns), of_product = tiles(g.m, rows) * across;
  const auto copies = [&](const float* data, std::int64_t ld, std::int64_t stride, bool along,
                          std::int64_t lines, int of_tile) {
    const int width = width_of(data, ld, along ? g.k : lines, stride, batch),
              there = static_cast<int>(std::min<std::int64_t>(lines, of_tile)),
              pieces = static_cast<int>(tiles(along ? depth : there, width));
    return WholeCopies{width, shift_of_lanes(pieces), along ? pitch_along(depth) : of_tile};
  };
  return {
      .gemm = g,
      .batch = batch,
      .tiles = parts::Divisor::of(of_product),
      .tiles_y = parts::Divisor::of(across),
      .warps_y = parts::Divisor::of(plan.warps_y),
      .a = copies(g.a, g.lda, batch.stride_a, !trans_a, g.m, rows),
      .b = copies(g.b, g.ldb, batch.stride_b, trans_b, g.n, columns),
      .rows = rows,
      .columns = columns,
      .depth = depth,
      .words_of_a = whole_words(rows, depth, !trans_a),
      .c_fours = comes_by_fours(g.c, g.ldc, 0, batch.stride_c, batch),
  };
}

template <class C>
void launch_whole(const Gemm& g, const Batch& batch, bool trans_a, bool trans_b,
                  const WholePlan& plan, runtime::StreamView& stream) {
  const WholeGemm w = whole_gemm<C>(g, batch, trans_a, trans_b, plan);
  const runtime::LaunchShape shape{
      dim3(static_cast<unsigned>(w.tiles.by * batch.count)),
      dim3(static_cast<unsigned>(32 * plan.warps_x * plan.warps_y)),
      sizeof(float) *
          static_cast<std::size_t>(w.words_of_a + whole_words(w.columns, w.depth, trans_b))};
  for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
    runtime::launch(stream, shape, multiply_whole<C, kARows, !kBRows>, w);
  });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
