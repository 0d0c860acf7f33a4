#pragma once
#include "cuda_runtime.h"

// The first size - zeros bytes are copied, the others become zero.
SIMT_INLINE void __pipeline_memcpy_async(void* to, const void* from, std::size_t size,
                                         std::size_t zeros = 0) {
  const auto copied = static_cast<unsigned>(size - zeros);
  if (size == 16) return simt_cp_async16(to, from, copied);
  if (size == 8) return simt_cp_async8(to, from, copied);
  simt_cp_async4(to, from, copied);
}
SIMT_INLINE void __pipeline_commit() { simt_cp_async_commit(); }
SIMT_INLINE void __pipeline_wait_prior(std::size_t groups) {
  simt_cp_async_wait(static_cast<int>(groups));
}
