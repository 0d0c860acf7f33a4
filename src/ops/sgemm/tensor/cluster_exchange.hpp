#pragma once
// How the thread blocks of a cluster work together: their barriers, and the split-K exchange. In it
// they add up their sums through each other's shared memory.

#include <type_traits>

#include "ops/sgemm/tensor/config.hpp"
#include "ops/sgemm/tensor/epilogue_rows.hpp"
#include "ops/sgemm/tensor/workspace.hpp"
#include "parts/ptx/cluster.hpp"
#include "parts/ptx/store_async.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Two blocks along k share nothing but their sums, so they do not wait for each other at the start.
// They only arrive at the cluster's barrier; the block that sends sums waits there for the other
// block to have started.
template <class Config>
constexpr bool kExchangesPairs = Config::value.blocks_k == 2;

// Makes the ring's barriers visible. The cluster functions are called by all threads.
template <class Config>
__device__ __forceinline__ void begin_cluster() {
  if constexpr (kExchangesPairs<Config>) {
    __syncthreads();
    ptx::cluster_arrive_relaxed();
  } else {
    ptx::cluster_barrier();
  }
}
// A cluster barrier between begin_cluster() and the sums.
template <class Config>
__device__ __forceinline__ void meet_cluster() {
  if constexpr (kExchangesPairs<Config>) ptx::cluster_wait();
  ptx::cluster_barrier();
  if constexpr (kExchangesPairs<Config>) ptx::cluster_arrive();
}
// No block ends while another one still accesses its shared memory. A pair of blocks along k has
// received all its sums by then.
template <class Config>
__device__ __forceinline__ void end_cluster() {
  if constexpr (!kExchangesPairs<Config>) ptx::cluster_barrier();
}
// The producer's warps join the barriers of the consumers' exchange.
template <class Config>
__device__ __forceinline__ void join_cluster_barriers() {
  if constexpr (kExchangesPairs<Config>) {
    ptx::cluster_wait();
  } else if constexpr (Config::value.blocks_k > 2) {
    ptx::cluster_barrier();
    ptx::cluster_barrier();
  }
}

// Sends the sums of the other block's half of the columns to it. Adds what it sends to the own
// half, which begins at sum kOwn. Each thread exchanges with the same thread of the other block.
template <class Config, int kOwn, int kCount>
__device__ __forceinline__ void exchange_halves(typename Config::Ring& ring, unsigned other_rank,
                                                const float (&sums)[kCount],
                                                float (&total)[kCount / 2]) {
  constexpr int kHalf = kCount / 2;
  const float* const others = &sums[kHalf - kOwn];
  ptx::Barrier* const received = &ring.all_received[ptx::warpgroup()];
  ptx::Barrier* const received_there = ptx::in_block(received, other_rank);
  float4* const to = ptx::in_block(&ring.received[0][threadIdx.x], other_rank);
  ptx::cluster_wait();  // the other block has started
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kHalf; i += 4) {
    ptx::store_async(to + i / 4 * Config::value.consumers, received_there,
                     make_float4(others[i], others[i + 1], others[i + 2], others[i + 3]));
  }
  ptx::wait(received, 0);  // once: the block computes a single tile
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < kHalf; i += 4) {
    const float4 more = ring.received[i / 4][threadIdx.x];
    const float* const own = &sums[kOwn + i];
    total[i] = own[0] + more.x, total[i + 1] = own[1] + more.y;
    total[i + 2] = own[2] + more.z, total[i + 3] = own[3] + more.w;
  }
}

// Split-K over two blocks: each finishes half of the tile's columns.
template <class Pairs, class Config, int kCount>
__device__ WARPLADDER_INLINE_ON_GPU void exchange_and_store(
    typename Config::Ring& ring, const Gemm& g, const SplitGemm& s, int rank,
    const float (&sums)[1][kCount], TileOrigin corner,
    const StagedRows<Config::value.block_m / 2>& staged) {
  constexpr int kHalf = kCount / 2;
  const TileOrigin own_corner{corner.row, corner.column + rank * 2 * kHalf};
  TileFactors<kHalf> factors(g, s, own_corner);
  float total[1][kHalf];
  if (rank == 0) {
    exchange_halves<Config, 0>(ring, rank ^ 1, sums[0], total[0]);
  } else {
    exchange_halves<Config, kHalf>(ring, rank ^ 1, sums[0], total[0]);
  }
  store_sums<Pairs>(g, s, factors, total, own_corner, staged);
}

// Writes a warpgroup's sums of a 64×N tile to shared memory, in rows of `row_length` floats.
template <int count>
__device__ __forceinline__ void stage_sums(const float (&sums)[count], float* tile,
                                           int row_length) {
  const int thread = threadIdx.x % 128;
  tile += (thread / 32 * 16 + thread % 32 / 4) * row_length + thread % 4 * 2;
  WARPLADDER_UNROLL_ON_GPU
  for (int half = 0; half < 2; ++half) {
    WARPLADDER_UNROLL_ON_GPU
    for (int quad = 0; quad < count / 4; ++quad) {
      *reinterpret_cast<float2*>(tile + half * 8 * row_length + quad * 8) =
          make_float2(sums[4 * quad + 2 * half], sums[4 * quad + 2 * half + 1]);
    }
  }
}

// Four neighbouring columns of C: their factors, and how they can be stored.
struct ColumnQuad {
  std::int64_t column;
  float factor[4];
  bool in_vectors, representable;

  __device__ __forceinline__ ColumnQuad(const Gemm& g, const SplitGemm& s, std::int64_t j)
      : column(j) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) factor[i] = j + i < g.n ? s.b.factor[j + i] : 0.0f;
    in_vectors = (reinterpret_cast<std::uintptr_t>(g.c) & 15) == 0 && g.ldc % 4 == 0 &&
                 j + 4 <= g.n && g.beta == 0.0f;
    representable = true;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) representable &= is_representable(factor[i]);
  }
  // Stores four sums of row `row` of C.
  __device__ __forceinline__ void store(const Gemm& g, std::int64_t row, float row_factor,
                                        const float4& sum) const {
    const bool all_representable = representable && is_representable(row_factor);
    const float c[] = {sum.x * row_factor * factor[0], sum.y * row_factor * factor[1],
                       sum.z * row_factor * factor[2], sum.w * row_factor * factor[3]};
    float* const to = g.c + row * g.ldc + column;
    if (in_vectors && all_representable) {
      *reinterpret_cast<float4*>(to) =
          make_float4(g.alpha * c[0], g.alpha * c[1], g.alpha * c[2], g.alpha * c[3]);
    } else {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 4; ++i) {
        if (column + i < g.n && is_representable(row_factor) && is_representable(factor[i])) {
          store_scaled(to + i, g.source + row * g.ld_source + column + i, g.alpha, c[i], g.beta);
        }
      }
    }
  }
};

// Adds up the sums that kBlocks blocks have staged and stores C's tile of 128 columns. Block `rank`
// does its share of the rows, a warp one row at a time, always in the order of the blocks.
template <class Pairs, int kBlocks, int kBlockM, int kThreads>
__device__ __forceinline__ void reduce_and_store(const Gemm& g, const SplitGemm& s, float* shared,
                                                 int row_length, unsigned rank, TileOrigin corner) {
  constexpr int kWarps = kThreads / 32, kRows = (kBlockM + kBlocks - 1) / kBlocks,
                kInFlight = 8 / kBlocks;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32,
            first = static_cast<int>(rank) * kRows,
            end = first + kRows < kBlockM ? first + kRows : kBlockM;
  const ColumnQuad quad(g, s, corner.column + lane * 4);
  const float* staged[kBlocks];
  WARPLADDER_UNROLL_ON_GPU
  for (int b = 0; b < kBlocks; ++b) staged[b] = ptx::in_block(shared, b) + lane * 4;
  WARPLADDER_NO_UNROLL
  for (int r0 = first + warp; r0 < end; r0 += kInFlight * kWarps) {
    float4 of_block[kInFlight][kBlocks];
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      WARPLADDER_UNROLL_ON_GPU
      for (int b = 0; b < kBlocks; ++b) {
        const int wanted = r0 + u * kWarps, row = wanted < end ? wanted : r0;
        of_block[u][b] = *reinterpret_cast<const float4*>(staged[b] + row * row_length);
      }
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int u = 0; u < kInFlight; ++u) {
      const std::int64_t row = corner.row + r0 + u * kWarps;
      if (r0 + u * kWarps >= end || row >= g.m) break;
      float4 sum = of_block[u][0];
      WARPLADDER_UNROLL_ON_GPU
      for (int b = 1; b < kBlocks; ++b) {
        const float4& more = of_block[u][b];
        sum = make_float4(sum.x + more.x, sum.y + more.y, sum.z + more.z, sum.w + more.w);
      }
      quad.store(g, row, s.a.factor[row], sum);
    }
  }
  if constexpr (Pairs::kNeedsLeast) {
    multiply_unsplit(g, s, corner.row + first, end - first, corner.column, 128, threadIdx.x,
                     kThreads);
  }
}

// Split-K over three blocks or more: each stages its sums in its ring, then adds up some rows.
template <class Pairs, class Config, int kTiles, int kCount>
__device__ WARPLADDER_INLINE_ON_GPU void reduce_and_store_tile(typename Config::Ring& ring,
                                                               const Gemm& g, const SplitGemm& s,
                                                               int rank,
                                                               const float (&sums)[kTiles][kCount],
                                                               int a_row, TileOrigin corner) {
  constexpr TensorConfig kConfig = Config::value;
  auto* const staged = reinterpret_cast<float*>(ring.a);
  ptx::cluster_barrier();  // no block reads its ring any more
  WARPLADDER_UNROLL_ON_GPU
  for (int t = 0; t < kTiles; ++t) {
    stage_sums(sums[t], staged + (a_row + t * 64) * Config::kSumsRow, Config::kSumsRow);
  }
  ptx::cluster_barrier();  // all blocks have staged their sums
  reduce_and_store<Pairs, kConfig.blocks_k, kConfig.block_m, kConfig.consumers>(
      g, s, staged, Config::kSumsRow, rank, corner);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
