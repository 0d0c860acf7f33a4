#pragma once
// The main loop of a product with two tiles and two fragments of everything, as row_05 of the sgemm
// ladder writes it out.

#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Makes the threads of a block wait for each other.
struct BlockBarrier {
  __device__ __forceinline__ void operator()() const { __syncthreads(); }
};

// Called by all threads that `barrier` makes wait for each other, those of the block where it is
// left out. All pass the same `tiles`, the number of tiles of kDepth steps that cover the depth.
// All data passes through the four functions, each called by every thread:
//   fetch()           global memory → registers: the next tile; that of tile 0 has been called
//   store(tile)       registers → shared memory, as tile 0 or 1
//   load(tile, step)  shared memory → registers: the fragment of one step, kept in place step % 2
//   multiply(step)    adds up the product of that fragment
// tile and step are constants to the compiler. No tiles at all: one tile's worth of what store()
// lays down is multiplied, which must be zeros.
template <int kDepth, class Fetch, class Store, class Load, class Multiply,
          class Barrier = BlockBarrier>
__device__ __forceinline__ void double_buffered(unsigned tiles, const Fetch& fetch,
                                                const Store& store, const Load& load,
                                                const Multiply& multiply,
                                                const Barrier& barrier = {}) {
  static_assert(kDepth % 2 == 0, "the fragment of a tile's first step takes place 0");
  store(0);
  barrier();  // the first tile is whole
  load(0, 0);
  const auto walk = [&](auto tile, auto more) {
    if (more) fetch();
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step + 1 < kDepth; ++step) {
      load(tile, step + 1);
      multiply(step);
    }
    if (more) {
      store(tile ^ 1);  // last read before the barrier of the tile before
      barrier();        // the next tile is whole, and nobody reads this one any more
      load(tile ^ 1, 0);
    }
    multiply(kDepth - 1);
  };
#if defined(__CUDACC__)
  constexpr std::integral_constant<int, 0> even{};
  constexpr std::integral_constant<int, 1> odd{};
  for (; tiles > 2; tiles -= 2) {
    walk(even, std::true_type{});
    walk(odd, std::true_type{});
  }
  if (tiles == 2) {
    walk(even, std::true_type{});
    walk(odd, std::false_type{});
  } else {
    walk(even, std::false_type{});
  }
#else
  // The same walks from one place: g++ takes minutes for four copies of each kernel's step.
  for (int tile = 0;; tile ^= 1, --tiles) {
    walk(tile, tiles > 1);
    if (tiles <= 1) break;
  }
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
