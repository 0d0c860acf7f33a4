#pragma once
// cuda::barrier for a whole block, and copies that have landed when the call returns.

#include "simt/vectors.hpp"
#include "simt/warp.hpp"

namespace cuda {
enum thread_scope {
  thread_scope_system,
  thread_scope_device,
  thread_scope_block,
  thread_scope_thread
};
template <thread_scope Scope = thread_scope_system>
struct barrier {
  struct arrival_token {};
  unsigned expected;
  SIMT_INLINE arrival_token arrive(int = 1) { return {}; }
  SIMT_INLINE void wait(arrival_token) { __syncthreads(); }
  SIMT_INLINE void arrive_and_wait() { __syncthreads(); }
  friend SIMT_INLINE void init(barrier* b, unsigned count) { b->expected = count; }
};
template <std::size_t alignment>
struct aligned_size_t {
  std::size_t value;
  constexpr explicit aligned_size_t(std::size_t v) : value(v) {}
  constexpr operator std::size_t() const { return value; }
};
template <class T, class Size, thread_scope Scope>
SIMT_INLINE void memcpy_async(T* to, const T* from, Size bytes, barrier<Scope>&) {
  const std::size_t n = bytes;
  for (std::size_t i = 0; i < n / sizeof(T); ++i) to[i] = from[i];
}
template <class Group, class T, class Size, thread_scope Scope>
SIMT_INLINE void memcpy_async(const Group& group, T* to, const T* from, Size bytes,
                              barrier<Scope>&) {
  const std::size_t count = static_cast<std::size_t>(bytes) / sizeof(T);
  for (std::size_t i = group.thread_rank(); i < count; i += group.size()) to[i] = from[i];
}
}  // namespace cuda
