// Bound before: row_16 streams the operands as fast as memory gives them. But its multiply-adds
// wait for shared memory, and each sum is a chain of k roundings.
// Idea: the same stream, multiplied in float64 by the tensor cores (row_08_double). The ring holds
// floats, half the bytes, and each warp converts what it multiplies. Steps of k are permuted, so
// that a load serves two of them where lines lie along k.
//
// Prediction, per warp of 32×32 and 16 of k: 16 shared loads at most and 32 conversions for 32
// products of 16 cycles each. 85 % of the tensor cores' float64, or 80 % of what memory gives,
// whichever is slower. Measured on an H100: 4,096 of 64×64×64 in 80 µs, where row_16 takes 85. And
// 128 of 256×256×256 in 93 µs, 69 % of the tensor cores' rate; 8 of 1024×1024×1024 in 318 µs, 81 %.
// Accepts: every problem, batches in
// strides or in arrays of pointers; copies of 16 bytes where address and leading dimension allow.
// What binds it: memory for products up to 64×64×64, then the tensor cores.

#include "ops/sgemm/rung_streamed.hpp"
#include "parts/outer_product.hpp"
#include "parts/ptx/mma.hpp"

namespace warpladder::sgemm {
namespace {

// Of a warp's 32×32 elements. Let g = lane / 4 and t = lane % 4. A lane holds 4 lines of A and 4 of
// B at k = 2t and 2t + 1 of each 8. Step i multiplies all lanes' k = 2t + i. Its lines of B are
// dealt so that a lane's sums are of four neighbouring columns.
template <class C, bool kAAlong, bool kBAlong>
class DoubleSums {
 public:
  static constexpr bool a_along = kAAlong, b_along = kBAlong, in_pairs = true;
  using Staged = StagedSums<double, 8>;

  __device__ __forceinline__ bool are_of(const Gemm& g, TileOrigin tile) const {
    return tile.row + first_x() < g.m && tile.column + first_y() < g.n;
  }
  __device__ __forceinline__ void add(const float* a_tile, const float* b_tile) {
    WARPLADDER_NO_UNROLL  // or the loads of both halves take more registers than there are
        for (int half = 0; half < 2; ++half) {
      float a[2][4], b[2][4];  // [step][line]
      load_a(a, a_tile, half);
      load_b(b, b_tile, half);
      WARPLADDER_UNROLL_ON_GPU
      for (int step = 0; step < 2; ++step) {
        WARPLADDER_UNROLL_ON_GPU
        for (int i = 0; i < 4; i += 2) {
          WARPLADDER_UNROLL_ON_GPU
          for (int j = 0; j < 4; ++j) {
            ptx::multiply_f64(sum_[i / 2][j], a[step][i], a[step][i + 1], b[step][j]);
          }
        }
      }
    }
  }

  __device__ __forceinline__ void store(float* c, const Gemm& g, TileOrigin tile, bool vectors,
                                        Staged& staged) const {
    const std::int64_t first = tile.column + first_y();
    const bool stages = !vectors && g.n > kLongRow;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      const auto row_of = [&](int g) {
        return tile.row + first_x() + (kAAlong ? 8 * i + g : 4 * g + i);
      };
      const std::int64_t row = row_of(group());
      WARPLADDER_UNROLL_ON_GPU
      for (int j = 0; j < 4; j += 2) {
        const int column = 8 * j + 4 * member();
        const double(&even)[4] = sum_[i / 2][j], (&odd)[4] = sum_[i / 2][j + 1];
        const int h = i % 2 * 2;
        const double four[4] = {even[h], kBAlong ? even[h + 1] : odd[h],
                                kBAlong ? odd[h] : even[h + 1], odd[h + 1]};
        float* const to = c + row * g.ldc + first + column;
        const std::int64_t left = g.n - first - column;
        if (stages) {
          staged.put(group(), column, four);
        } else if (row < g.m) {
          vectors ? parts::store4<4>(to, left, g.alpha, four, g.beta)
                  : parts::store4<1>(to, left, g.alpha, four, g.beta);
        }
      }
      if (stages) staged.store(c, g, first, row_of);
    }
  }

 private:
  __device__ __forceinline__ static int group() { return threadIdx.x % 32 / 4; }
  __device__ __forceinline__ static int member() { return threadIdx.x % 4; }
  __device__ __forceinline__ static int first_x() { return threadIdx.x / 32 / C::warps_y * 32; }
  __device__ __forceinline__ static int first_y() { return threadIdx.x / 32 % C::warps_y * 32; }

  __device__ __forceinline__ static float2 two(const float* from) {
    return *reinterpret_cast<const float2*>(from);
  }
  // Lines 8i + g of the warp's along k, 4g + i across k.
  __device__ __forceinline__ void load_a(float (&part)[2][4], const float* tile, int half) const {
    if constexpr (kAAlong) {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 4; ++i) {
        const float2 steps = two(tile + (a_at_ ^ half * 8) + 8 * i * C::depth);
        part[0][i] = steps.x;
        part[1][i] = steps.y;
      }
    } else {
      WARPLADDER_UNROLL_ON_GPU
      for (int step = 0; step < 2; ++step) {
        parts::load4(part[step], tile + a_at_ + (8 * half + step) * C::tile_x);
      }
    }
  }
  // Lines 16·(j/2) + 4·(g/2) + 2·(j%2) + g%2 along k, 16·(j/2) + 2g + j%2 across k.
  __device__ __forceinline__ void load_b(float (&part)[2][4], const float* tile, int half) const {
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < 2; ++j) {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 2; ++i) {
        if constexpr (kBAlong) {
          const float2 steps = two(tile + (b_at_[i] ^ half * 8) + 16 * j * C::depth);
          part[0][2 * j + i] = steps.x;
          part[1][2 * j + i] = steps.y;
        } else {
          const float2 lines = two(tile + b_at_[j] + (8 * half + i) * C::tile_y);
          part[i][2 * j] = lines.x;
          part[i][2 * j + 1] = lines.y;
        }
      }
    }
  }

  // Where the lane's first lines lie in a tile.
  __device__ __forceinline__ static int along(int line) {
    return place_in_line<C::depth, true>(line, member() / 2) + member() % 2 * 2;
  }
  __device__ __forceinline__ static int b_place(int which) {
    const int g = group();
    return kBAlong
               ? along(first_y() + g / 2 * 4 + which * 2 + g % 2)
               : place_in_row<C::tile_y, true>(2 * member(), first_y() / 4 + which * 4 + g / 2) +
                     g % 2 * 2;
  }
  int a_at_ = kAAlong ? along(first_x() + group())
                      : place_in_row<C::tile_x, true>(2 * member(), first_x() / 4 + group());
  int b_at_[2] = {b_place(0), b_place(1)};
  double sum_[2][4][4] = {};
};

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const StreamedShape shape{g.m, g.n, g.k, batch.count, width_for(g.lda, g.ldb)};
    with_double_stream(shape, *stream.machine, [&]<class C>(double) {
      launch_stream<C, DoubleSums>(g, batch, trans_a, trans_b, stream);
    });
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t;
  const StreamedShape shape{p.m, p.n, p.k, 1, width_for(p.lda, p.ldb)};
  with_double_stream(shape, machine, [&]<class C>(double) {
    const std::uint64_t ctas = p.m * p.n / (C::tile_x * C::tile_y),
                        rounds = ctas * (p.k / C::depth), warps = ctas * C::warps;
    t.global_load_requests = rounds * (C::tile_x + C::tile_y) * C::depth / 128;
    t.global_load_sectors = 16 * t.global_load_requests;
    t.shared_store_requests = t.global_load_requests;
    t.shared_store_wavefronts = 4 * t.shared_store_requests;
    t.shared_load_requests = 16 * rounds * C::warps;
    t.shared_load_wavefronts = 2 * t.shared_load_requests;
    t.barriers = ctas * (C::warps + C::producers / 32);
    t.global_store_requests = 8 * warps;
    t.global_store_sectors = 16 * t.global_store_requests;
    t.tensor_fmas = p.m * p.n * p.k;
  });
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_17_streamed_double) = {.idea = "the same stream in float64 on tensor cores",
                                           .accepts = "every problem, and batches",
                                           .launch = launch,
                                           .predict = predict_in<Layout::row_major, predict>,
                                           .takes = takes_batches};

}  // namespace warpladder::sgemm
