// Bound before: the CUDA cores' multiply-adds, which do not issue one a cycle; and a chain of k
// roundings, where cublasSgemm adds up small products in parts and is the more accurate.
// Idea: a factor is a float64 as it is, and Hopper's tensor cores multiply float64 at the rate at
// which its CUDA cores multiply FP32. Every product is exact, a sum is good to 2^-53 a term, and C
// is rounded once, at the end. Infinities, NaN, subnormal numbers and any range of magnitudes mean
// what they mean to FP32, but for sums that would overflow only on the way.
// Tiles are laid down in shared memory as float64, a tile ahead of what is multiplied. A lane's
// rows and columns are dealt so that it reads neighbours from there and writes neighbours to C.
//
// Prediction: m·n·k multiply-adds on the tensor cores at 128 a cycle and multiprocessor, 66 TFLOP/s
// at the most; row_07, bound by the same number, reaches 50. A step of 4 k takes a warp 6 loads for
// 16 products of 16 cycles each.
// Accepts: every problem; float4 where alignment allows.
// What binds it: barriers, and the conversions between them, in which a seventh of the tensor
// cores' time passes.

#include "ops/sgemm/rung.hpp"
#include "parts/outer_product.hpp"
#include "parts/ptx/mma.hpp"
#include "parts/tile_fetch.hpp"

namespace warpladder::sgemm {
namespace {

constexpr int kStep = 4;  // of a product along k

// Tiles of C; warps take 64×32 of a large one, 32×32 and 16×32 of the others.
constexpr int kLarge = 128, kSmall = 64, kLeast = 32;
constexpr int rows_of_warp(int block) { return block / 2; }
constexpr int threads(int block) { return 2 * block; }
constexpr int kDepth = 16;  // of a tile
constexpr int kWarpColumns = 32;

template <int kBlock>
struct Shared {
  static constexpr int kPad = 4;  // the four lines that a request reads begin 8 banks apart
  alignas(16) double a[2][kDepth][kBlock + kPad];
  alignas(16) double b[2][kDepth][kBlock + kPad];
};

// A lane holds two neighbouring rows of each 16 of its warp's, to multiply two columns of each 16;
// the sums that it gets are of four neighbouring columns.
__device__ __forceinline__ int group() { return threadIdx.x % 32 / 4; }
__device__ __forceinline__ int member() { return threadIdx.x % 4; }
template <int kCount>
__device__ __forceinline__ void load_pairs(double (&part)[kCount], const double* from) {
  WARPLADDER_UNROLL
  for (int i = 0; i < kCount; i += 2) {
    const double2 v = *reinterpret_cast<const double2*>(from + i * 8);
    part[i] = v.x;
    part[i + 1] = v.y;
  }
}

template <int kBlock, bool kARows, bool kBRows, int kVector>
__global__ void __launch_bounds__(threads(kBlock)) multiply(Gemm g) {
  constexpr int kThreads = threads(kBlock), kRows = rows_of_warp(kBlock) / 8,
                kColumns = kWarpColumns / 8, kWarpsAcross = kBlock / kWarpColumns;
  auto& shared = *runtime::dynamic_shared<Shared<kBlock>>();
  const auto [row0, column0] = tile_of_block<kBlock, kBlock>(g);
  const int warp = threadIdx.x / 32, warp_row = warp / kWarpsAcross * rows_of_warp(kBlock),
            warp_column = warp % kWarpsAcross * kWarpColumns;

  parts::TileFetch<kBlock, kDepth, kThreads, kARows, kVector> a_fetch(g.a, g.lda, g.m, row0);
  parts::TileFetch<kBlock, kDepth, kThreads, !kBRows, kVector> b_fetch(g.b, g.ldb, g.n, column0);
  double a_part[2][kRows], b_part[2][kColumns];
  double sum[kRows / 2][kColumns][4] = {};
  const auto load_parts = [&](int tile, int step) {
    const int k = step * kStep + member();
    load_pairs(a_part[step % 2], &shared.a[tile][k][warp_row + 2 * group()]);
    load_pairs(b_part[step % 2], &shared.b[tile][k][warp_column + 2 * group()]);
  };
  const auto multiply_parts = [&](int step) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kRows; i += 2) {
      WARPLADDER_UNROLL
      for (int j = 0; j < kColumns; ++j) {
        ptx::multiply_f64(sum[i / 2][j], a_part[step % 2][i], a_part[step % 2][i + 1],
                          b_part[step % 2][j]);
      }
    }
  };
  const auto fetch = [&](int depth) {
    a_fetch.fetch(depth);
    b_fetch.fetch(depth);
  };
  const auto store = [&](int tile) {
    a_fetch.store(shared.a[tile]);
    b_fetch.store(shared.b[tile]);
  };
  // A tile is laid down while the one before it is multiplied, and fetched a tile before that.
  unsigned left = g.k > kDepth ? static_cast<unsigned>(tiles(g.k, kDepth)) - 1 : 0;
  fetch(a_fetch.first_depth(g.k));
  store(0);
  if (left > 0) fetch(kDepth);
  __syncthreads();  // the first tile is whole
  load_parts(0, 0);
  const auto walk = [&](auto tile_number) {
    constexpr int tile = tile_number, kSteps = kDepth / kStep;
    WARPLADDER_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      if (step + 1 < kSteps) {
        load_parts(tile, step + 1);
      } else if (left > 0) {
        __syncthreads();  // the next tile is whole, and nobody reads this one any more
        load_parts(tile ^ 1, 0);
      }
      multiply_parts(step);
      if (step == 0 && left > 0) {
        store(tile ^ 1);
        if (left > 1) fetch(kDepth);
      }
    }
  };
  for (;; --left) {
    walk(std::integral_constant<int, 0>{});
    if (left == 0) break;
    --left;
    walk(std::integral_constant<int, 1>{});
    if (left == 0) break;
  }

  WARPLADDER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = row0 + warp_row + i / 2 * 16 + 2 * group() + i % 2;
    if (row >= g.m) break;
    WARPLADDER_UNROLL
    for (int j = 0; j < kColumns; j += 2) {
      const std::int64_t column = column0 + warp_column + j * 8 + 4 * member();
      const double(&even)[4] = sum[i / 2][j], (&odd)[4] = sum[i / 2][j + 1];
      const int h = i % 2 * 2;
      const double four[4] = {even[h], odd[h], even[h + 1], odd[h + 1]};
      parts::store4<kVector>(&g.c[row * g.ldc + column], g.n - column, g.alpha, four, g.beta);
    }
  }
}

// What a product takes in tiles of `block`, in rounds of multiprocessors that each multiply one of
// kLeast; smaller tiles lose time to loads.
double rounds(std::int64_t m, std::int64_t n, std::int64_t multiprocessors, int block,
              double loss) {
  const std::int64_t all = tiles(m, block) * tiles(n, block), area = block / kLeast;
  return static_cast<double>((all + multiprocessors - 1) / multiprocessors * area * area) * loss;
}
template <class Run>
void with_tile(std::int64_t m, std::int64_t n, const runtime::Machine& machine, const Run& run) {
  const std::int64_t multiprocessors = machine.multiprocessors;
  const double large = rounds(m, n, multiprocessors, kLarge, 1),
               small = rounds(m, n, multiprocessors, kSmall, 1.15),
               least = rounds(m, n, multiprocessors, kLeast, 1.5);
  if (large <= small && large <= least) {
    run.template operator()<kLarge>();
  } else if (small <= least) {
    run.template operator()<kSmall>();
  } else {
    run.template operator()<kLeast>();
  }
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  with_tile(g.m, g.n, *stream.machine, [&]<int kBlock>() {
    const runtime::LaunchShape shape{tile_grid(tiles(g.m, kBlock), tiles(g.n, kBlock)),
                                     dim3(threads(kBlock)), sizeof(Shared<kBlock>)};
    for_layouts(g, trans_a, trans_b, [&]<bool kARows, bool kBRows, int kVector>() {
      runtime::launch(stream, shape, multiply<kBlock, kARows, kBRows, kVector>, g);
    });
  });
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  ladder::Totals t;
  with_tile(p.m, p.n, machine, [&]<int kBlock>() {
    constexpr std::uint64_t kRows = rows_of_warp(kBlock);
    const std::uint64_t warps = p.m * p.n / (kRows * kWarpColumns),
                        k_tiles = warps * (p.k / kDepth), steps = warps * (p.k / kStep);
    t.global_load_requests = 2 * 2 * k_tiles;
    t.global_load_sectors = 16 * t.global_load_requests;
    t.shared_store_requests = 2 * (4 + 2) * k_tiles;
    t.shared_store_wavefronts = 2 * (4 * 2 + 2 * 4) * k_tiles;
    t.shared_load_requests = (kRows / 16 + 2) * steps;
    t.shared_load_wavefronts = 4 * t.shared_load_requests;
    t.barriers = k_tiles;
    t.global_store_requests = kRows / 4 * warps;
    t.global_store_sectors = 16 * kRows / 4 * warps;
    t.tensor_fmas = p.m * p.n * p.k;
  });
  return t;
}

}  // namespace

WARPLADDER_RUNG(row_08_double) = {.idea = "each factor as one float64, C rounded once",
                                  .accepts = "every problem; float4 where alignment allows",
                                  .launch = launch_in<Layout::row_major, launch>,
                                  .predict = predict_in<Layout::row_major, predict>};

}  // namespace warpladder::sgemm
