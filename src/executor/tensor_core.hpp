#pragma once
// The arithmetic of one warpgroup product, on plain arrays. Internal to device/cpu.

#include <cstdint>

namespace warpladder::executor {

constexpr int kTensorRows = 64, kTensorDepthBytes = 32, kMostTensorColumns = 128;

// Where the tiles lie: 16-byte pieces of line r, swizzled within eight lines of 128 bytes from a
// multiple of 1,024 bytes in `shared`.
struct TensorTiles {
  const unsigned char* shared;  // the block's dynamic shared memory
  unsigned a, b;                // the tiles' first bytes in there
  int columns;                  // 32, 64 or 128
  int element_bytes;            // 2: halves; 4: floats, of which the upper 19 bits count
};

// sums[64][columns] = A·Bᵀ (+ sums if `add`): exact sums of exact products, truncated once.
void multiply(const TensorTiles& tiles, bool add, float* sums);

// The same sums as the 128 lanes hold them, columns / 2 floats a lane.
void gather(float* const* of_lane, int columns, float* sums);
void scatter(float* const* of_lane, int columns, const float* sums);

}  // namespace warpladder::executor
