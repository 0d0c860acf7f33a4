#pragma once
// warpladder's handles: one for each CUDA context, made at its first call and never destroyed, for
// CUDA may be gone when a program ends. Finding one takes no lock.

#include <driver_types.h>

#include <cstddef>
#include <cstdint>

#include "warpladder/warpladder.h"

namespace warpladder::cublas {

struct Served {
  std::uint64_t context = 0;
  warpladder_handle handle = nullptr;  // null where the context cannot be served
};

// Of the calling thread's context. `pedantic`: FP32 multiply-adds alone, as CUBLAS_PEDANTIC_MATH
// wants them. With `may_make` false, null where there is none yet.
Served served(bool pedantic, bool may_make) noexcept;

// Gives the captured stream a workspace that the graph keeps, because memory that a graph itself
// allocates forbids it to be a part of another graph. False where there is no memory.
class GraphWorkspace {
 public:
  GraphWorkspace(const Served& served, cudaStream_t stream, std::size_t bytes) noexcept;
  ~GraphWorkspace();
  GraphWorkspace(const GraphWorkspace&) = delete;
  GraphWorkspace& operator=(const GraphWorkspace&) = delete;
  bool ok() const { return ok_; }

 private:
  warpladder_handle handle_;
  cudaStream_t stream_;
  bool is_set_ = false, ok_ = false;
};

}  // namespace warpladder::cublas
