// Bound before: row_09 lays a product of 8×8×8 down in a tile of 32×32: most of a CTA's threads
// copy and multiply zeros.
// Idea: a thread computes four neighbours of a row of C, and a CTA as many products as its threads
// suffice for. Operands come straight from global memory: neighbouring threads read neighbouring
// elements of consecutive products, and what several threads read comes from L1. No barrier, no
// shared memory.
//
// Prediction: of 8×8×8, 80 % of what memory gives. Measured on an H100: 65,536 of 8×8×8 in 28 µs,
// 1.8 TB/s, where row_09 takes 214 and cuBLAS 132.
// Accepts: m and n up to 32, batches in strides or in arrays of pointers; float4 where alignment
// allows; runs on every GPU.
// What binds it: memory; from n = 16 on the loads, five for 16 multiply-adds.

#include "ops/sgemm/rung_operands.hpp"
#include "parts/outer_product.hpp"

namespace warpladder::sgemm {
namespace {

constexpr int kThreads = 256, kFour = 4;
constexpr std::int64_t kMostLines = 32, kMostDepth = 1 << 20;

// How a CTA's threads are dealt: `fours` for a row of C, `units` for a product.
struct Deal {
  unsigned fours, units, products;
  bool whole;  // sizes and leading dimensions are multiples of 4
};

// Four elements of k: of a row of A, and of four columns of B. Zeros lie beyond the end of k. Where
// columns end, the last one is read again.
template <bool kARows, bool kVectors>
__device__ __forceinline__ void load_row(float (&to)[kFour], const Gemm& g, const float* a, int row,
                                         int k) {
  if constexpr (kARows && kVectors) {
    parts::load4(to, a + row * g.lda + k);
  } else {
    WARPLADDER_UNROLL
    for (int i = 0; i < kFour; ++i) {
      const bool there = kVectors || k + i < g.k;
      to[i] = there ? a[kARows ? row * g.lda + k + i : (k + i) * g.lda + row] : 0.0f;
    }
  }
}
template <bool kBRows, bool kVectors>
__device__ __forceinline__ void load_columns(float (&to)[kFour][kFour], const Gemm& g,
                                             const float* b, int column, int k) {
  const int last = static_cast<int>(g.n) - 1;
  WARPLADDER_UNROLL
  for (int i = 0; i < kFour; ++i) {
    if constexpr (kVectors && kBRows) {
      parts::load4(to[i], b + (k + i) * g.ldb + column);
    } else if constexpr (kVectors) {
      float four[kFour];  // of column i
      parts::load4(four, b + (column + i) * g.ldb + k);
      WARPLADDER_UNROLL
      for (int j = 0; j < kFour; ++j) to[j][i] = four[j];
    } else {
      WARPLADDER_UNROLL
      for (int j = 0; j < kFour; ++j) {
        const int at = column + j < last ? column + j : last;
        to[i][j] = k + i < g.k ? b[kBRows ? (k + i) * g.ldb + at : at * g.ldb + k + i] : 0.0f;
      }
    }
  }
}

template <bool kARows, bool kBRows, bool kVectors>
__device__ __forceinline__ void multiply_four(const Gemm& g, const ProductOperands& x, int row,
                                              int column) {
  float sum[kFour] = {};
  WARPLADDER_UNROLL_BY(4)
  for (int k = 0; k < static_cast<int>(g.k); k += kFour) {
    float a[kFour], b[kFour][kFour];
    load_row<kARows, kVectors>(a, g, x.a, row, k);
    load_columns<kBRows, kVectors>(b, g, x.b, column, k);
    WARPLADDER_UNROLL
    for (int i = 0; i < kFour; ++i) {
      WARPLADDER_UNROLL
      for (int j = 0; j < kFour; ++j) sum[j] += a[i] * b[i][j];
    }
  }
  parts::store4<kVectors ? 4 : 1>(x.c + row * g.ldc + column, g.n - column, g.alpha, sum, g.beta);
}

template <bool kARows, bool kBRows>
__global__ void __launch_bounds__(kThreads) multiply(Gemm g, Batch batch, Deal deal) {
  const unsigned in_cta = threadIdx.x / deal.units, unit = threadIdx.x % deal.units;
  if (in_cta >= deal.products) return;
  const int row = static_cast<int>(unit / deal.fours),
            column = static_cast<int>(unit % deal.fours) * kFour;
  const std::int64_t step = std::int64_t{gridDim.x} * deal.products;
  for (std::int64_t product = std::int64_t{blockIdx.x} * deal.products + in_cta;
       product < batch.count; product += step) {
    const ProductOperands x = operands_of(g, batch, product);
    if (deal.whole && is_whole(x.a) && is_whole(x.b) && is_whole(x.c)) {
      multiply_four<kARows, kBRows, true>(g, x, row, column);
    } else {
      multiply_four<kARows, kBRows, false>(g, x, row, column);
    }
  }
}

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const auto fours = static_cast<unsigned>(tiles(g.n, kFour)),
               units = static_cast<unsigned>(g.m) * fours, products = kThreads / units;
    const bool whole = (g.n | g.k | g.lda | g.ldb | g.ldc) % kFour == 0;
    const std::int64_t blocks = tiles(batch.count, static_cast<int>(products));
    constexpr std::int64_t kMostBlocks = 1 << 30;
    const dim3 grid(static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks));
    for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
      runtime::launch(stream, {grid, dim3(kThreads)}, multiply<kARows, kBRows>, g, batch,
                      Deal{fours, units, products, whole});
    });
  });
}

// Of one product of m·n a multiple of 128 and k of 4. Which sectors neighbours share depends on n.
ladder::Totals predict(const Problem& p, const runtime::Machine&) {
  const std::uint64_t warps = p.m * p.n / (32 * kFour);
  ladder::Totals t;
  t.global_load_requests = warps * (p.k / kFour) * (1 + kFour);
  t.global_load_sectors = ladder::kNotPredicted;
  t.global_store_requests = warps;
  t.global_store_sectors = 16 * warps;
  t.fmas = p.m * p.n * p.k;
  return t;
}

bool takes(const Call& call) {
  const Problem& p = call.problem;
  return p.m <= kMostLines && p.n <= kMostLines && p.k <= kMostDepth;
}

}  // namespace

WARPLADDER_RUNG(row_15_tiny_products) = {.idea = "four elements of C a thread, many products a CTA",
                                         .accepts = "m and n up to 32, and batches",
                                         .launch = launch,
                                         .predict = predict_in<Layout::row_major, predict>,
                                         .takes = takes};

}  // namespace warpladder::sgemm
