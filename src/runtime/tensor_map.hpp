#pragma once
// What the copy engine (TMA) knows of a matrix in device memory. Host code describes the matrix
// and encodes it; a kernel takes the map as a `const __grid_constant__` parameter and hands its
// address to ptx::tma_load(). On a GPU a map holds what the driver wrote; on the CPU side the
// description itself. Plain data: kernels' translation units include this.

#include <cstdint>

#include "runtime/stream.hpp"

namespace warpladder::runtime {

// Rows of `columns` elements, `row_elements` apart; `data` and a row's bytes are multiples of 16.
// It is copied in boxes of `box_rows` rows of 128 bytes. These lie in shared memory one after the
// other at a multiple of 1,024 bytes. The eight 16-byte pieces of row r lie in places XORed with
// r mod 8 (the 128-byte swizzle). Or rows of a box have `box_columns` elements, up to 256, whose
// bytes are a multiple of 16. Then it lies at a multiple of 128 bytes, and nothing is swizzled.
// What a box has outside of the matrix is zero.
struct TiledMatrix {
  const void* data = nullptr;
  int element_bytes = 4;  // 2: half, 4: float
  std::int64_t rows = 0, columns = 0, row_elements = 0;
  int box_rows = 0, box_columns = 0;

  bool is_swizzled() const { return box_columns == 0; }
  int box_row_bytes() const { return is_swizzled() ? 128 : box_columns * element_bytes; }
};

struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

// For the GPU of the stream. A matrix that the driver refuses becomes the stream's error.
TensorMap gpu_encode(StreamView& stream, const TiledMatrix& matrix) noexcept;

}  // namespace warpladder::runtime
