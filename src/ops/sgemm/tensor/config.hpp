#pragma once
// The tile sizes of a warp-specialised product, the shared memory that they need, and which sizes
// suit an m×n×k product.

#include <cstddef>
#include <type_traits>

#include "ops/sgemm/rung.hpp"
#include "parts/tensor_ring.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Tiles of block_m × block_n. The blocks of a cluster either are neighbours along n and share their
// loads of A (`sharers`), or split one tile along k (`blocks_k`).
struct TensorConfig {
  int sharers = 1, blocks_k = 1, block_m = 256, stages = 4, block_n = 128;
  // Three blocks or more along k add up with Kahan's compensation, which costs half the rate.
  bool compensates = true;
  static constexpr int groups = 2, consumers = 256, threads = consumers + 128;
  constexpr unsigned cluster() const { return sharers * blocks_k; }
  constexpr bool kahan() const { return compensates && blocks_k > 2; }
};
constexpr bool valid(TensorConfig c) {
  return c.block_m % 128 == 0 && c.sharers <= 2 && c.blocks_k <= 8 &&
         (c.sharers == 1 || c.blocks_k == 1) &&
         // Wide tiles leave no registers for two tiles of rows, or for a second level of sums.
         (c.block_n == 128 || (c.block_n % 64 == 0 && c.cluster() == 1 && c.block_m == 128));
}

// nvcc rejects struct-valued template arguments on kernels, so this wraps the value in a type.
template <TensorConfig config>
struct ConfigType {
  static_assert(valid(config));
  static constexpr TensorConfig value = config;
  using TileRing = parts::TileRing<config.block_m, config.block_n, config.stages>;
  // With split-K over two blocks, shared memory also receives the other block's sums. Only then:
  // a few KiB more would halve the L1 cache, and with it the loads a pass keeps in flight.
  struct ExchangeRing : TileRing {
    float4 received[config.block_n / 16][config.consumers];
    ptx::Barrier all_received[2];  // per warpgroup: its bytes have arrived

    // Called by one thread; a barrier of all users follows.
    __device__ __forceinline__ void init(unsigned consumers) {
      for (ptx::Barrier& barrier : all_received) ptx::barrier_init(&barrier, 1);
      TileRing::init(consumers);
      for (ptx::Barrier& barrier : all_received) {
        ptx::arrive_expecting(&barrier, sizeof received / 2);
      }
    }
  };
  using Ring = std::conditional_t<config.blocks_k == 2, ExchangeRing, TileRing>;
  // A row of sums in shared memory. The padding makes rows begin in different banks.
  static constexpr int kSumsRow = config.block_n + 8;
  static_assert(sizeof(float) * config.block_m * kSumsRow <= offsetof(TileRing, full));
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
