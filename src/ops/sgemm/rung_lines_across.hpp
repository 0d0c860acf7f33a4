#pragma once
// Few lines of X times many of Y that lie across k: the device code of row_25_lines_across. A warp
// keeps C::rows sums of each of its C::of_warp lines; a lane has C::columns of them.

#include "ops/sgemm/rung_lines.hpp"
#include "parts/outer_product.hpp"
#include "parts/ptx/cp_async.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A round of k. Each lane copies the lines of Y that it has, and reads no others.
template <class C>
struct AcrossStage {
  float y[C::round][C::of_warp];
  float x[C::round][C::rows];
};
template <class C>
union AcrossShared {
  AcrossStage<C> ring[kWarpsOfLines][C::stages];
  float sums[kWarpsOfLines][C::rows][C::of_warp];
};

// A warp's way along k: `left` of it from the round that is copied next. Of Y's lines `lines` are
// left from the lane's first on.
struct AcrossWay {
  const float *x, *y;
  std::int64_t left, lines;
};

// What does not exist becomes zero.
template <class C>
__device__ __forceinline__ void copy_round(AcrossStage<C>& stage, const AcrossWay& way,
                                           const FewLines& f) {
  const int lane = threadIdx.x % 32;
  if (way.left > 0) {
    const float* y = way.y;
    WARPLADDER_UNROLL
    for (int k = 0; k < C::round; ++k, y += f.ldy) {
      if constexpr (C::width == 4) {
        ptx::cp_async<16>(&stage.y[k][4 * lane], y, k < way.left && way.lines > 0 ? 16 : 0);
      } else {
        WARPLADDER_UNROLL
        for (int j = 0; j < C::of_warp; j += 32) {
          ptx::cp_async<4>(&stage.y[k][lane + j], y + j, k < way.left && j < way.lines ? 4 : 0);
        }
      }
    }
    WARPLADDER_UNROLL
    for (int e = lane; e < C::round * C::rows; e += 32) {
      const int k = e % C::round, row = e / C::round;
      ptx::cp_async<4>(&stage.x[k][row], way.x + row * f.x_line + k * f.x_k,
                       k < way.left && row < f.rows ? 4 : 0);
    }
  }
  ptx::cp_async_commit();
}

// A round's products are added up first: fewer additions in a row lose less.
template <class C>
__device__ __forceinline__ void multiply_round(float (&sum)[C::rows][C::columns],
                                               const AcrossStage<C>& stage) {
  const int lane = threadIdx.x % 32;
  float part[C::rows][C::columns] = {};
  WARPLADDER_UNROLL
  for (int k = 0; k < C::round; ++k) {
    float x[C::rows], y[C::columns];
    WARPLADDER_UNROLL
    for (int r = 0; r < C::rows; r += 4) parts::load4(x + r, stage.x[k] + r);
    if constexpr (C::width == 4) {
      parts::load4(y, &stage.y[k][4 * lane]);
    } else {
      WARPLADDER_UNROLL
      for (int j = 0; j < C::columns; ++j) y[j] = stage.y[k][lane + 32 * j];
    }
    parts::add_outer_product(part, x, y);
  }
  WARPLADDER_UNROLL
  for (int r = 0; r < C::rows; ++r) {
    WARPLADDER_UNROLL
    for (int j = 0; j < C::columns; ++j) sum[r][j] += part[r][j];
  }
}

// The sums of a warp's part of k: every `parts`th round.
template <class C>
__device__ __forceinline__ void add_rounds(float (&sum)[C::rows][C::columns], const FewLines& f,
                                           AcrossWay way, AcrossStage<C> (&ring)[C::stages]) {
  const int apart = C::round * f.parts;
  const auto copy_next = [&](int stage) {
    copy_round(ring[stage], way, f);
    way.left -= apart, way.x += apart * f.x_k, way.y += apart * f.ldy;
  };
  WARPLADDER_UNROLL
  for (int stage = 0; stage < C::stages - 1; ++stage) copy_next(stage);
  int stage = 0, next = C::stages - 1;
  WARPLADDER_NO_UNROLL
  for (std::int64_t left = way.left + apart * (C::stages - 1); left > 0; left -= apart) {
    ptx::cp_async_wait<C::stages - 2>();
    __syncwarp();  // all lanes' copies are there, and the stage before is read no more
    copy_next(next);
    multiply_round<C>(sum, ring[stage]);
    next = stage;
    stage = stage + 1 < C::stages ? stage + 1 : 0;
  }
  ptx::cp_async_wait<0>();
}

// Adds up the parts, in order, and stores C: neighbouring threads store neighbours.
template <class C>
__device__ __forceinline__ void store_across(const FewLines& f, const LineOperands& of,
                                             const AcrossShared<C>& shared) {
  const int columns = kWarpsOfLines / f.parts * C::of_warp, rows = static_cast<int>(f.rows);
  const std::int64_t first = of.block * columns;
  for (int e = threadIdx.x; e < rows * columns; e += 32 * kWarpsOfLines) {
    const int row = f.by_row ? e / columns : e % rows, column = f.by_row ? e % columns : e / rows;
    if (first + column >= f.lines) continue;
    const int warp = column / C::of_warp * f.parts;
    float total = shared.sums[warp][row][column % C::of_warp];
    for (int part = 1; part < f.parts; ++part) {
      total += shared.sums[warp + part][row][column % C::of_warp];
    }
    store_scaled(of.c + row * f.c_x + (first + column) * f.c_y, f.gemm.alpha, total, f.gemm.beta);
  }
}

template <class C>
static __global__ void __launch_bounds__(32 * kWarpsOfLines, 2) multiply_lines_across(FewLines f) {
  auto& shared = *runtime::dynamic_shared<AcrossShared<C>>();
  const LineOperands of = operands_of(f);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = warp % f.parts;
  const std::int64_t first = (of.block * (kWarpsOfLines / f.parts) + warp / f.parts) * C::of_warp +
                             (C::width == 4 ? 4 * lane : lane),
                     k0 = part * C::round;
  float sum[C::rows][C::columns] = {};
  add_rounds<C>(sum, f,
                {of.x + k0 * f.x_k, of.y + k0 * f.ldy + first, f.gemm.k - k0, f.lines - first},
                shared.ring[warp]);
  __syncthreads();  // the rings are read no more
  WARPLADDER_UNROLL
  for (int r = 0; r < C::rows; ++r) {
    WARPLADDER_UNROLL
    for (int j = 0; j < C::columns; ++j) {
      shared.sums[warp][r][C::width == 4 ? 4 * lane + j : lane + 32 * j] = sum[r][j];
    }
  }
  __syncthreads();  // all parts are there
  store_across(f, of, shared);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
