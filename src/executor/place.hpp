#pragma once
// Where the running thread of a kernel is. The executor writes it whenever another thread goes on,
// and kernels read it (simt_functions.hpp).

struct alignas(16) SimtPlace {
  struct alignas(16) Index {
    unsigned x = 0, y = 0, z = 0, unused = 0;
  };
  Index thread, block, block_dim, grid_dim;
  unsigned char* dynamic_shared = nullptr;

  // Where each lies, in bytes.
  static constexpr int kThread = 0, kBlock = 16, kBlockDim = 32, kGridDim = 48, kDynamicShared = 64;
};
