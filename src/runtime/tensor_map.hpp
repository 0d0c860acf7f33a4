#pragma once
// What the copy engine (TMA) knows of a matrix in device memory. Host code describes the matrix
// and encodes it; a kernel takes the map as a `const __grid_constant__` parameter and hands its
// address to ptx::tma_load(). On a GPU a map holds what the driver wrote; on the CPU side the
// description itself. Plain data: kernels' translation units include this.

#include <cstdint>

#include "runtime/stream.hpp"

namespace warpladder::runtime {

// Rows of `columns` elements, `row_elements` apart; both `data` and a row's bytes are multiples of
// 16. It is copied in boxes of `box_rows` rows of 128 bytes, which lie in shared memory one after
// the other at a multiple of 1,024 bytes, the eight 16-byte pieces of row r in places XORed with
// r mod 8 (the 128-byte swizzle). What a box has outside of the matrix is zero.
struct TiledMatrix {
  static constexpr int kBoxRowBytes = 128;
  const void* data = nullptr;
  int element_bytes = 4;  // 2: half, 4: float
  std::int64_t rows = 0, columns = 0, row_elements = 0;
  int box_rows = 0;
};

struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

// For the GPU of the stream. A matrix that the driver refuses becomes the stream's error.
TensorMap gpu_encode(StreamView& stream, const TiledMatrix& matrix) noexcept;

}  // namespace warpladder::runtime
