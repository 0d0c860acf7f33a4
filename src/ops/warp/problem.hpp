#pragma once
// A warp's exchange as an operator: n tiles of 32 rows of 4 words, each transposed, fp32; out of
// place. Tiles lie behind one another: element (l, c) of a tile at 4·l + c, and after the transpose
// at 32·c + l. Included by rungs: plain data only.

#include <cstdint>

namespace warpladder::warp {

constexpr int kRows = 32, kColumns = 4, kTileWords = kRows * kColumns;

// Where the operands lie in device memory. They do not overlap.
struct Call {
  std::int64_t tiles = 0;
  const float* in = nullptr;
  float* out = nullptr;
};

}  // namespace warpladder::warp
