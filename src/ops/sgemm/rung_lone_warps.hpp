#pragma once
// What a CTA of one warp does with a tile of C (row_23_lone_warps). All that it needs of k comes to
// shared memory in parts, and nobody but the warp waits for it.

#include "ops/sgemm/lone_warps.hpp"
#include "ops/sgemm/rung_operands.hpp"
#include "ops/sgemm/store_lanes.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Rows are X, columns Y. Lanes' columns are no neighbours if kSingly.
template <class C, bool kXAlong, bool kYAlong, bool kSingly>
class LoneTile {
 public:
  struct Operands {
    float x[C::tile_x * C::depth], y[C::tile_y * C::depth];
  };

  __device__ __forceinline__ LoneTile(std::int64_t row, std::int64_t column)
      : row_(row), column_(column) {}

  __device__ __forceinline__ void multiply(Operands& shared, const Gemm& g,
                                           const ProductOperands& of) {
    const LineOperand x{of.a, g.lda, g.m, is_whole(of.a) && g.lda % 4 == 0},
        y{of.b, g.ldb, g.n, is_whole(of.b) && g.ldb % 4 == 0};
    for (std::int64_t k = 0; k < g.k; k += C::depth) {
      __syncwarp();  // no lane reads the part before any more
      copy_lines<C::tile_x, C::depth, C::threads, kXAlong>(shared.x, x, row_, k, g.k);
      copy_lines<C::tile_y, C::depth, C::threads, kYAlong>(shared.y, y, column_, k, g.k);
      ptx::cp_async_commit();
      ptx::cp_async_wait<0>();
      __syncwarp();  // all lanes' copies are there
      const int depth = g.k - k < C::depth ? static_cast<int>(g.k - k) : C::depth;
      WARPLADDER_NO_UNROLL
      for (int step = 0; step < (depth + 3) / 4; ++step) {
        multiply_step<C, kXAlong, kYAlong, kSingly>(sum_, shared.x, shared.y, at_, step);
      }
    }
  }

  __device__ __forceinline__ void store(float* c, const Gemm& g) const {
    const LaneTarget to{
        c + row_ * g.ldc + column_, g.ldc, g.m - row_, g.n - column_, at_.lane_x, at_.lane_y};
    store_lanes<C, kXAlong, kSingly>(to, true, g.alpha, g.beta, sum_);
  }

 private:
  SlicedPlace<C> at_;
  std::int64_t row_, column_;
  float sum_[C::lane_x][C::lane_y] = {};
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
