#pragma once
// The arithmetic of one product of a warpgroup, or of a warp, on plain arrays. Internal to
// device/cpu.

#include <cstdint>

namespace warpladder::executor {

constexpr int kTensorRows = 64, kTensorDepthBytes = 32, kMostTensorColumns = 256;

// Where the tiles lie: 16-byte pieces of line r, swizzled within eight lines of 128 bytes from a
// multiple of 1,024 bytes in `shared`.
struct TensorTiles {
  const unsigned char* shared;  // the block's dynamic shared memory
  unsigned a, b;                // the tiles' first bytes in there
  int columns;                  // a multiple of 16
  int element_bytes;            // 2: halves; 4: floats, of which the upper 19 bits count
  // A as the 128 lanes hold it, in four words each; the elements of both tiles are bfloat16 then.
  const std::uint32_t* const* a_of_lane = nullptr;
};

// sums[64][columns] = A·Bᵀ (+ sums if `add`): exact sums of exact products, truncated once.
void multiply(const TensorTiles& tiles, bool add, float* sums);

// The same sums as the 128 lanes hold them, columns / 2 floats a lane.
void gather(float* const* of_lane, int columns, float* sums);
void scatter(float* const* of_lane, int columns, const float* sums);

// What a lane brings to a warp's product m16n8, as parts/ptx/mma.hpp has it, of 32 bytes along k.
struct WarpFactors {
  float* sums;             // four
  const std::uint32_t* a;  // four words of 32 bits
  const std::uint32_t* b;  // two
  int element_bytes;       // 2: halves, two to a word; 4: floats, of which the upper 19 bits count
  bool add;
};
constexpr unsigned kWarpRows = 16, kWarpColumns = 8;

// The sums of all 32 lanes, with the same arithmetic.
void multiply_warp(const WarpFactors* const (&of_lane)[32]);

}  // namespace warpladder::executor
