#pragma once
// What every sgemm rung includes, beside parts/. Tensor-core rungs also include headers of tensor/.

#include "ladder/rung.hpp"
#include "ops/sgemm/problem.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// What a rung's launch() gets: the product in the rung's own layout, and nothing left to decide.
// m and n are at least 1. k is 0 where BLAS forbids reading A and B (k == 0 or alpha == 0).
struct Gemm {
  std::int64_t m, n, k;
  float alpha, beta;
  const float* a;
  std::int64_t lda;
  const float* b;
  std::int64_t ldb;
  float* c;
  std::int64_t ldc;
  void* workspace;
};

// A stored matrix seen as op(X): element (i, j) of op(X), whichever way it lies in memory.
// kByRows: neighbours along j are neighbours in memory.
template <bool kByRows>
struct Operand {
  const float* data;
  std::int64_t ld;
  // The distance from element (i, j) to (i + 1, j), and to (i, j + 1).
  __host__ __device__ __forceinline__ std::int64_t down() const { return kByRows ? ld : 1; }
  __host__ __device__ __forceinline__ std::int64_t across() const { return kByRows ? 1 : ld; }
  __host__ __device__ __forceinline__ const float& operator()(std::int64_t i,
                                                              std::int64_t j) const {
    return kByRows ? data[i * ld + j] : data[i + j * ld];
  }
};

// C's element after the product: beta == 0 must not read it.
__host__ __device__ __forceinline__ void store_scaled(float* c, float alpha, float sum,
                                                      float beta) {
  *c = beta == 0.0f ? alpha * sum : alpha * sum + beta * *c;
}

// Tiles of `tile` that cover `size`.
__host__ __device__ __forceinline__ std::int64_t tiles(std::int64_t size, int tile) {
  return (size + tile - 1) / tile;
}

// The first element of a tile of C.
struct TileOrigin {
  std::int64_t row, column;
};
// The origin of the tile that a block computes. Tiles are numbered in bands of 64 tile rows, down
// each column of a band: blocks that run at the same time then share rows of A and columns of B.
template <int kBlockM, int kBlockN>
__device__ __forceinline__ TileOrigin tile_of_block(const Gemm& g) {
  constexpr unsigned kBand = 64;
  const auto tiles_m = static_cast<unsigned>(tiles(g.m, kBlockM)),
             tiles_n = static_cast<unsigned>(tiles(g.n, kBlockN));
  const unsigned first = blockIdx.x / (kBand * tiles_n) * kBand,
                 in_band = blockIdx.x % (kBand * tiles_n);
  const unsigned rows = tiles_m - first < kBand ? tiles_m - first : kBand;
  return {std::int64_t{first + in_band % rows} * kBlockM, std::int64_t{in_band / rows} * kBlockN};
}

// The same for a column-major rung: numbered down C's columns.
template <int kBlockM, int kBlockN>
__device__ __forceinline__ TileOrigin column_tile_of_block(const Gemm& g) {
  const auto tiles_m = static_cast<unsigned>(tiles(g.m, kBlockM));
  return {std::int64_t{blockIdx.x % tiles_m} * kBlockM,
          std::int64_t{blockIdx.x / tiles_m} * kBlockN};
}

// One block per tile of C, in one dimension: y and z end at 65,535 blocks, which a tall C passes.
inline dim3 tile_grid(std::int64_t tiles_m, std::int64_t tiles_n) {
  return dim3(static_cast<unsigned>(tiles_m * tiles_n));
}

// Calls run.template operator()<A by rows, B by rows>() for the operands' transposes in row-major
// storage; a column-major rung passes !trans_a and !trans_b.
template <class Run>
void for_transposes(bool trans_a, bool trans_b, const Run& run) {
  if (trans_a) {
    trans_b ? run.template operator()<false, false>() : run.template operator()<false, true>();
  } else {
    trans_b ? run.template operator()<true, false>() : run.template operator()<true, true>();
  }
}

// As for_transposes(), with the widest access to A, B and C that the problem allows: 4 elements, if
// addresses, leading dimensions and the length of A's and B's lines in memory are multiples of 4,
// else 1.
template <class Run>
void for_layouts(const Gemm& g, bool trans_a, bool trans_b, const Run& run) {
  for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
    const auto address = reinterpret_cast<std::uintptr_t>(g.a) |
                         reinterpret_cast<std::uintptr_t>(g.b) |
                         reinterpret_cast<std::uintptr_t>(g.c);
    const std::int64_t lines = (kARows ? g.k : g.m) | (kBRows ? g.n : g.k);
    const bool vectors = address % 16 == 0 && (lines | g.lda | g.ldb | g.ldc) % 4 == 0;
    vectors ? run.template operator()<kARows, kBRows, 4>()
            : run.template operator()<kARows, kBRows, 1>();
  });
}

// What a rung's launch and prediction are made from: functions of the product in the rung's own
// layout. A prediction counts for a compact product without transposes, whose sizes are multiples
// of the rung's tile, with beta = 0.
using LaunchRung = void (*)(const Gemm& gemm, bool trans_a, bool trans_b,
                            runtime::StreamView& stream);

inline Gemm gemm_of(const Call& call) {
  const Problem& p = call.problem;
  return {p.m,   p.n,    p.k,   p.alpha, p.beta, call.a,
          p.lda, call.b, p.ldb, call.c,  p.ldc,  call.workspace};
}
template <Layout layout, LaunchRung launch>
void launch_in(const Call& given, runtime::StreamView& stream) {
  const Call call = in_layout(given, layout);
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0) return;
  Gemm g = gemm_of(call);
  if (p.alpha == 0.0f) g.k = 0;
  for (std::int64_t i = 0; i < call.batch.count; ++i) {
    launch(g, p.trans_a, p.trans_b, stream);
    g.a += call.batch.stride_a;
    g.b += call.batch.stride_b;
    g.c += call.batch.stride_c;
  }
}
template <Layout layout, auto predict>
ladder::Totals predict_in(const Call& call, const runtime::Machine& machine) {
  return ladder::predicted<predict>(in_layout(call, layout).problem, machine);
}

// For predict_in(), of a rung whose loads and stores depend on more than a number can say.
inline ladder::Totals predict_multiply_adds(const Problem& p) {
  ladder::Totals t;
  t.global_load_requests = t.global_load_sectors = ladder::kNotPredicted;
  t.global_store_requests = t.global_store_sectors = ladder::kNotPredicted;
  t.fmas = p.m * p.n * p.k;
  return t;
}

// For a host function, which the plain flavour alone launches.
template <Layout layout, LaunchRung launch>
constexpr auto launch_on_host =
    runtime::kThisFlavour == runtime::Flavour::plain ? &launch_in<layout, launch> : nullptr;

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
