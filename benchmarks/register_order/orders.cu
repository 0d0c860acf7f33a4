#include "ops/sgemm/rung.hpp"
#include "orders.hpp"
#include "parts/double_buffer.hpp"
#include "parts/outer_product.hpp"
#include "parts/tile_fetch.hpp"

namespace warpladder::register_order {
namespace {

constexpr int kBlock = 128, kDepth = 8, kWarpM = 32, kWarpN = 64, kThread = 8;
static_assert(kThread * kThread == kSums && kFragmentFloats == 4 * kThread);

// Calls add(i, j) for the 64 sums, in the order that is to be measured.
template <Order order, class Add>
__device__ __forceinline__ void for_sums(const Add& add) {
  constexpr bool by_rows = order == Order::rows || order == Order::rows_snake;
  constexpr bool snake = order == Order::rows_snake || order == Order::columns_snake;
  WARPLADDER_UNROLL
  for (int line = 0; line < kThread; ++line) {
    WARPLADDER_UNROLL
    for (int turn = 0; turn < kThread; ++turn) {
      const int along = snake && line % 2 ? kThread - 1 - turn : turn;
      add(by_rows ? line : along, by_rows ? along : line);
    }
  }
}

// Of sgemm/row_06_warp_tile and row_07_register_parity: where a thread's first 4×4 lies.
struct Place {
  int row, column;
};
__device__ __forceinline__ Place place_of(int thread) {
  constexpr int kWarpsN = kBlock / kWarpN;
  const int warp = thread / 32, lane = thread % 32;
  const int lane_column = (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4);
  const int lane_row = (lane >> 1 & 1) | (lane >> 2 & 2);
  return {warp / kWarpsN * kWarpM + lane_row * 4, warp % kWarpsN * kWarpN + lane_column * 4};
}

// Those rungs' kernel for operands by rows and float4. It stays as they have it, down to the tests
// for edges that never come, so that ptxas gives it the same registers.
template <Order order>
__global__ void __launch_bounds__(kThreads, 2) multiply(sgemm::Gemm g) {
  __shared__ __align__(16) float a_tile[2][kDepth][kBlock];  // transposed
  __shared__ __align__(16) float b_tile[2][kDepth][kBlock];
  const auto [row0, column0] = sgemm::tile_of_block<kBlock, kBlock>(g);
  const Place at = place_of(threadIdx.x);

  parts::TileFetch<kBlock, kDepth, kThreads, true, 4> a_fetch(g.a, g.lda, g.m, row0);
  parts::TileFetch<kBlock, kDepth, kThreads, false, 4> b_fetch(g.b, g.ldb, g.n, column0);
  float a_part[2][kThread], b_part[2][kThread], sum[kThread][kThread] = {};
  const auto load_parts = [&](int tile, int k) {
    WARPLADDER_UNROLL
    for (int i = 0; i < kThread; i += 4) {
      parts::load4(&a_part[k % 2][i], &a_tile[tile][k][at.row + i / 4 * (kWarpM / 2)]);
    }
    WARPLADDER_UNROLL
    for (int j = 0; j < kThread; j += 4) {
      parts::load4(&b_part[k % 2][j], &b_tile[tile][k][at.column + j / 4 * (kWarpN / 2)]);
    }
  };
  const auto fetch = [&](int depth) {
    a_fetch.fetch(depth);
    b_fetch.fetch(depth);
  };
  const auto store = [&](int tile) {
    a_fetch.store(a_tile[tile]);
    b_fetch.store(b_tile[tile]);
  };
  const auto multiply_parts = [&](int k) {
    for_sums<order>([&](int i, int j) { sum[i][j] += a_part[k % 2][i] * b_part[k % 2][j]; });
  };
  fetch(a_fetch.first_depth(g.k));
  parts::double_buffered<kDepth>(
      static_cast<unsigned>(sgemm::tiles(g.k, kDepth)), [&] { fetch(kDepth); }, store, load_parts,
      multiply_parts);
  WARPLADDER_UNROLL
  for (int i = 0; i < kThread; ++i) {
    const std::int64_t row = row0 + at.row + i % 4 + i / 4 * (kWarpM / 2);
    if (row >= g.m) break;
    WARPLADDER_UNROLL
    for (int j = 0; j < kThread; j += 4) {
      const std::int64_t column = column0 + at.column + j / 4 * (kWarpN / 2);
      parts::store4<4>(&g.c[row * g.ldc + column], g.n - column, g.alpha, &sum[i][j], g.beta);
    }
  }
}

// As much of multiply() as its steps keep in registers, and its multiply-adds: nothing else. The
// fragments come, and the sums go, by float4, as there.
template <Order order>
__device__ __forceinline__ void issue_steps(const Issue& issue, float scale) {
  const float* values = issue.values + threadIdx.x % kLanes * kFragmentFloats;
  float a_part[2][kThread], b_part[2][kThread], sum[kThread][kThread] = {};
  WARPLADDER_UNROLL
  for (int i = 0; i < 2 * kThread; i += 4) {
    parts::load4(&a_part[i / kThread][i % kThread], values + i);
    parts::load4(&b_part[i / kThread][i % kThread], values + 2 * kThread + i);
  }
  for (int round = 0; round < issue.rounds; ++round) {
    WARPLADDER_UNROLL
    for (int step = 0; step < kStepsOfRound; ++step) {
      // fmaf: the products stay the same, and the compiler would take them out of the loop.
      for_sums<order>([&](int i, int j) {
        sum[i][j] = fmaf(a_part[step % 2][i], b_part[step % 2][j], sum[i][j]);
      });
    }
  }
  float* out = issue.out + (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * kSums;
  WARPLADDER_UNROLL
  for (int i = 0; i < kSums; i += 4) {
    parts::store4<4>(&out[i], 4, scale, &sum[i / kThread][i % kThread], 0.0f);
  }
}

// The sums are multiplied by what the compiler does not know to be 1, as a product's are by alpha.
// What is stored by float4 are other registers, and ptxas numbers those of the sums as it likes.
template <Order order>
__global__ void __launch_bounds__(kThreads, 2) issue_only(Issue issue) {
  issue_steps<order>(issue, issue.scale);
}

// The sums are stored as they are. Each float4 of them must lie in four registers in a row, which
// ties the parities of sum[i][j] and b[j].
template <Order order>
__global__ void __launch_bounds__(kThreads, 2) issue_tied(Issue issue) {
  issue_steps<order>(issue, 1.0f);
}

template <class Run>
void for_order(Order order, const Run& run) {
  switch (order) {
    case Order::rows:
      return run.template operator()<Order::rows>();
    case Order::rows_snake:
      return run.template operator()<Order::rows_snake>();
    case Order::columns:
      return run.template operator()<Order::columns>();
    case Order::columns_snake:
      return run.template operator()<Order::columns_snake>();
  }
}

void launch_multiply(Order order, const Product& p, runtime::StreamView& stream) {
  const sgemm::Gemm gemm{p.m, p.n, p.k, 1.0f, 0.0f, p.a, p.k, p.b, p.n, p.c, p.n, nullptr};
  const runtime::LaunchShape shape{sgemm::tile_grid(p.m / kBlock, p.n / kBlock), dim3(kThreads)};
  for_order(order, [&]<Order kOrder>() { runtime::launch(stream, shape, multiply<kOrder>, gemm); });
}

void launch_issue_only(Order order, const Issue& issue, runtime::StreamView& stream) {
  const runtime::LaunchShape shape{dim3(static_cast<unsigned>(issue.blocks)), dim3(kThreads)};
  for_order(order,
            [&]<Order kOrder>() { runtime::launch(stream, shape, issue_only<kOrder>, issue); });
}

void launch_issue_tied(Order order, const Issue& issue, runtime::StreamView& stream) {
  const runtime::LaunchShape shape{dim3(static_cast<unsigned>(issue.blocks)), dim3(kThreads)};
  for_order(order,
            [&]<Order kOrder>() { runtime::launch(stream, shape, issue_tied<kOrder>, issue); });
}

[[maybe_unused]] const bool declared =
    declare(runtime::kThisFlavour, {launch_multiply, launch_issue_only, launch_issue_tied});

}  // namespace
}  // namespace warpladder::register_order
