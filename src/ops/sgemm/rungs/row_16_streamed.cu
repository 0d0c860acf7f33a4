// Bound before: row_09's CTAs wait for memory before each product, and their loads and stores move
// single words.
// Idea: CTAs that stay. A ring of stages in shared memory is filled by asynchronous copies of 16
// bytes, in one stream over all tiles that a CTA computes. While it multiplies and stores one
// product, the operands of its next one are under way. A lane has 8×8 elements of tiles of 64×64 or
// 64×128, 8×4 of 64×32.
//
// Prediction: 80 % of what memory gives, or 70 % of the multiply-adds' peak. Measured on an H100:
// 4,096 of 64×64×64 in 85 µs, where row_09 takes 198 and cuBLAS 94. And 128 of 256×256×256 in
// 126 µs, 51 % of the peak, where cuBLAS takes 103. Accepts: every problem, batches in strides or
// in arrays of pointers; copies of 16 bytes where address and leading dimension allow; runs on
// every GPU.
// What binds it: memory for products up to 64×64×64; then shared memory, which gives a lane 16
// words for its 64 multiply-adds.

#include "ops/sgemm/rung_streamed.hpp"

namespace warpladder::sgemm {
namespace {

template <class C, bool kAAlong, bool kBAlong>
class FloatSums {
 public:
  static constexpr bool a_along = kAAlong, b_along = kBAlong, in_pairs = false;
  using Staged = StagedSums<float, C::lanes_x>;
  static_assert(C::lanes_y == 8);  // whose groups of four are 32 columns

  __device__ __forceinline__ bool are_of(const Gemm& g, TileOrigin tile) const {
    return tile.row + at_.first_x < g.m && tile.column + at_.first_y < g.n;
  }
  __device__ __forceinline__ void add(const float* a_tile, const float* b_tile) {
    WARPLADDER_NO_UNROLL  // or the loads of several steps take more registers than there are
        for (int step = 0; step < C::depth / 4; ++step) {
      multiply_step<C, kAAlong, kBAlong, kBAlong>(sum_, a_tile, b_tile, at_, step);
    }
  }

  // Lines along k are dealt singly: neighbouring lanes then have neighbouring columns.
  __device__ __forceinline__ void store(float* c, const Gemm& g, TileOrigin tile, bool vectors,
                                        Staged& staged) const {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < C::lane_x; ++i) {
      const auto row_of = [&](int lane_x) {
        return tile.row + at_.first_x + line_of<C::lanes_x, kAAlong>(lane_x, i);
      };
      const std::int64_t row = row_of(at_.lane_x);
      WARPLADDER_UNROLL
      for (int j = 0; j < C::lane_y; j += kBAlong ? 1 : 4) {
        const std::int64_t first = tile.column + at_.first_y + line_of<C::lanes_y, kBAlong>(0, j);
        const std::int64_t column = first + (kBAlong ? 1 : 4) * at_.lane_y;
        float* const to = c + row * g.ldc + column;
        if constexpr (kBAlong) {
          if (row < g.m && column < g.n) store_scaled(to, g.alpha, sum_[i][j], g.beta);
        } else if (vectors) {
          if (row < g.m) parts::store4<4>(to, g.n - column, g.alpha, &sum_[i][j], g.beta);
        } else if (g.n > kLongRow) {
          const float* const four = &sum_[i][j];
          staged.put(at_.lane_x, 4 * at_.lane_y, {four[0], four[1], four[2], four[3]});
          staged.store(c, g, first, row_of);
        } else if (row < g.m) {
          parts::store4<1>(to, g.n - column, g.alpha, &sum_[i][j], g.beta);
        }
      }
    }
  }

 private:
  SlicedPlace<C> at_;
  float sum_[C::lane_x][C::lane_y] = {};
};

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const StreamedShape shape{g.m, g.n, g.k, batch.count, width_for(g.lda, g.ldb)};
    with_float_stream(shape, *stream.machine, [&]<class C>(double) {
      launch_stream<C, FloatSums>(g, batch, trans_a, trans_b, stream);
    });
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t;
  const StreamedShape shape{p.m, p.n, p.k, 1, width_for(p.lda, p.ldb)};
  with_float_stream(shape, machine, [&]<class C>(double) {
    const std::uint64_t ctas = p.m * p.n / (C::tile_x * C::tile_y),
                        rounds = ctas * (p.k / C::depth), warps = C::consumers / 32;
    t.global_load_requests = rounds * (C::tile_x + C::tile_y) * C::depth / 128;
    t.global_load_sectors = 16 * t.global_load_requests;
    t.shared_store_requests = t.global_load_requests;
    t.shared_store_wavefronts = 4 * t.shared_store_requests;
    const std::uint64_t steps = rounds * warps * (C::depth / 4);
    t.shared_load_requests = (C::lane_x + C::lane_y) * steps;
    t.shared_load_wavefronts = (2 * C::lane_x + 4 * C::lane_y) * steps;  // neighbours share x
    t.barriers = ctas * (warps + C::producers / 32);
    t.global_store_requests = ctas * (C::tile_x * C::tile_y / 128);
    t.global_store_sectors = 16 * t.global_store_requests;
    t.fmas = p.m * p.n * p.k;
  });
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_16_streamed) = {.idea = "a batch as one stream through a ring, CTAs stay",
                                    .accepts = "every problem, and batches",
                                    .launch = launch,
                                    .predict = predict_in<Layout::row_major, predict>,
                                    .takes = takes_batches};

}  // namespace warpladder::sgemm
