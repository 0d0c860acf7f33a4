#pragma once
// How a lane's sums of a warp's tile leave its registers for C.

#include "ops/sgemm/rung_sliced.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Where a lane's sums lie. Its warp's tile in C has so many rows and columns from `c` on, and the
// lane has a place in it.
struct LaneTarget {
  float* c;
  std::int64_t ld, rows, columns;
  int lane_x, lane_y;
};

// by_fours: four neighbours at once, for which addresses are multiples of 16 bytes.
enum class Leaving { by_fours, singly, added };

// Between a row's stores lies no branch: then they reach the L2 cache as fewer requests. `added`
// adds beta·C, and has such branches.
template <class C, bool kRowsSingly, bool kColumnsSingly, Leaving kLeaving>
__device__ __forceinline__ void store_lanes(const LaneTarget& to, float alpha, float beta,
                                            const float (&sum)[C::lane_x][C::lane_y]) {
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < C::lane_x; ++i) {
    const int row = line_of<C::lanes_x, kRowsSingly>(to.lane_x, i);
    if (row >= to.rows) continue;
    float* const c = to.c + row * to.ld;
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < C::lane_y; j += kLeaving == Leaving::by_fours ? 4 : 1) {
      const int column = line_of<C::lanes_y, kColumnsSingly>(to.lane_y, j);
      if constexpr (kLeaving == Leaving::by_fours) {
        parts::store4<4>(c + column, to.columns - column, alpha, &sum[i][j], beta);
      } else if (column < to.columns) {
        if constexpr (kLeaving == Leaving::added) {
          store_scaled(c + column, alpha, sum[i][j], beta);
        } else {
          c[column] = alpha * sum[i][j];
        }
      }
    }
  }
}
// `fours`: addresses allow it.
template <class C, bool kRowsSingly, bool kColumnsSingly>
__device__ __forceinline__ void store_lanes(const LaneTarget& to, bool fours, float alpha,
                                            float beta, const float (&sum)[C::lane_x][C::lane_y]) {
  if constexpr (!kColumnsSingly) {
    if (fours) {
      return store_lanes<C, kRowsSingly, false, Leaving::by_fours>(to, alpha, beta, sum);
    }
  }
  beta == 0.0f ? store_lanes<C, kRowsSingly, kColumnsSingly, Leaving::singly>(to, alpha, beta, sum)
               : store_lanes<C, kRowsSingly, kColumnsSingly, Leaving::added>(to, alpha, beta, sum);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
