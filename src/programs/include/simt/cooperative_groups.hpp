#pragma once

#include "simt/warp.hpp"

namespace cooperative_groups {

struct thread_group {
  unsigned mask = 0, rank = 0, count = 0;
  bool is_block = false;
  SIMT_INLINE void sync() const { is_block ? __syncthreads() : __syncwarp(mask); }
  SIMT_INLINE unsigned size() const { return count; }
  SIMT_INLINE unsigned num_threads() const { return count; }
  SIMT_INLINE unsigned thread_rank() const { return rank; }
};

struct thread_block {
  SIMT_INLINE void sync() const { __syncthreads(); }
  static SIMT_INLINE unsigned thread_rank() { return simt::thread_rank(); }
  static SIMT_INLINE unsigned size() { return simt::block_threads(); }
  static SIMT_INLINE unsigned num_threads() { return simt::block_threads(); }
  static SIMT_INLINE dim3 group_index() { return blockIdx; }
  static SIMT_INLINE dim3 thread_index() { return threadIdx; }
  static SIMT_INLINE dim3 group_dim() { return blockDim; }
  static SIMT_INLINE dim3 dim_threads() { return blockDim; }
  SIMT_INLINE operator thread_group() const { return {0, thread_rank(), size(), true}; }
  struct arrival_token {};
  SIMT_INLINE arrival_token barrier_arrive() const { return {}; }
  SIMT_INLINE void barrier_wait(arrival_token) const { __syncthreads(); }
};
SIMT_INLINE thread_block this_thread_block() { return {}; }
template <unsigned N>
struct block_tile_memory {
  char nothing;
};
template <unsigned N>
SIMT_INLINE thread_block this_thread_block(block_tile_memory<N>&) {
  return {};
}

struct grid_group {
  SIMT_INLINE void sync() const { program_grid_sync(); }
  SIMT_INLINE bool is_valid() const { return true; }
  static SIMT_INLINE unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static SIMT_INLINE unsigned long long size() { return num_blocks() * simt::block_threads(); }
  static SIMT_INLINE unsigned long long num_threads() { return size(); }
  static SIMT_INLINE unsigned long long block_rank() { return simt::block_rank(); }
  static SIMT_INLINE dim3 block_index() { return blockIdx; }
  static SIMT_INLINE dim3 group_dim() { return gridDim; }
  static SIMT_INLINE dim3 dim_blocks() { return gridDim; }
  static SIMT_INLINE unsigned long long thread_rank() {
    return block_rank() * simt::block_threads() + simt::thread_rank();
  }
};
SIMT_INLINE grid_group this_grid() { return {}; }

// What groups of lanes share; `Group` has mask(), size() and thread_rank().
template <class Group>
struct lanes_of {
  SIMT_INLINE const Group& self() const { return *static_cast<const Group*>(this); }
  // The lane of the group's member `rank`.
  SIMT_INLINE int lane(unsigned rank) const {
    unsigned left = self().mask();
    for (; rank; --rank) left &= left - 1;
    return __builtin_ctz(left);
  }
  // Of a ballot, the members' bits in the order of their ranks.
  SIMT_INLINE unsigned packed(unsigned ballot) const {
    unsigned left = self().mask(), out = 0;
    for (unsigned i = 0; left; left &= left - 1, ++i) {
      out |= (ballot >> __builtin_ctz(left) & 1) << i;
    }
    return out;
  }
  SIMT_INLINE void sync() const { __syncwarp(self().mask()); }
  SIMT_INLINE unsigned num_threads() const { return self().size(); }
  template <class T>
  SIMT_INLINE T from(T value, unsigned rank) const {
    return __shfl_sync(self().mask(), value, lane(rank));
  }
  template <class T>
  SIMT_INLINE T shfl(T value, int rank) const {
    return from(value, static_cast<unsigned>(rank) % self().size());
  }
  template <class T>
  SIMT_INLINE T shfl_down(T value, unsigned delta) const {
    const unsigned rank = self().thread_rank();
    return from(value, rank + delta < self().size() ? rank + delta : rank);
  }
  template <class T>
  SIMT_INLINE T shfl_up(T value, unsigned delta) const {
    const unsigned rank = self().thread_rank();
    return from(value, rank >= delta ? rank - delta : rank);
  }
  template <class T>
  SIMT_INLINE T shfl_xor(T value, unsigned mask) const {
    const unsigned rank = self().thread_rank(), other = rank ^ mask;
    return from(value, other < self().size() ? other : rank);
  }
  SIMT_INLINE int any(int p) const { return __any_sync(self().mask(), p); }
  SIMT_INLINE int all(int p) const { return __all_sync(self().mask(), p); }
  SIMT_INLINE unsigned ballot(int p) const { return packed(__ballot_sync(self().mask(), p)); }
  template <class T>
  SIMT_INLINE unsigned match_any(T value) const {
    return packed(__match_any_sync(self().mask(), value));
  }
  template <class T>
  SIMT_INLINE unsigned match_all(T value, int& p) const {
    return packed(__match_all_sync(self().mask(), value, &p));
  }
  SIMT_INLINE operator thread_group() const {
    return {self().mask(), self().thread_rank(), self().size(), false};
  }
};

template <unsigned N, class Parent = void>
struct thread_block_tile : lanes_of<thread_block_tile<N, Parent>> {
  SIMT_INLINE thread_block_tile() {}
  template <class Other>
  SIMT_INLINE thread_block_tile(const thread_block_tile<N, Other>&) {}
  // Lanes that never were, in the last warp of an odd block, take no part.
  SIMT_INLINE unsigned mask() const {
    if constexpr (N > 32) program_trap();  // tiles of several warps are not provided
    const unsigned left = simt::block_threads() - simt::warp() * 32;
    const unsigned there = left >= 32 ? ~0u : (1u << left) - 1;
    const unsigned all = N == 32 ? ~0u : ((1u << N % 32) - 1) << (simt::lane() / N * N);
    return there & all;
  }
  static SIMT_INLINE constexpr bool exchanges_halves() { return true; }
  static SIMT_INLINE constexpr bool is_reduced_at_once() { return N >= 16; }
  static SIMT_INLINE unsigned thread_rank() { return simt::thread_rank() % N; }
  static SIMT_INLINE constexpr unsigned size() { return N; }
  static SIMT_INLINE constexpr unsigned num_threads() { return N; }
  static SIMT_INLINE unsigned meta_group_rank() { return simt::thread_rank() / N; }
  static SIMT_INLINE unsigned meta_group_size() { return (simt::block_threads() + N - 1) / N; }
};

struct coalesced_group : lanes_of<coalesced_group> {
  unsigned members;
  SIMT_INLINE explicit coalesced_group(unsigned mask) : members(mask) {}
  SIMT_INLINE unsigned mask() const { return members; }
  SIMT_INLINE bool exchanges_halves() const { return size() == 32; }
  SIMT_INLINE bool is_reduced_at_once() const { return true; }
  SIMT_INLINE unsigned size() const { return static_cast<unsigned>(__builtin_popcount(members)); }
  SIMT_INLINE unsigned thread_rank() const {
    return static_cast<unsigned>(__builtin_popcount(members & ((1u << simt::lane()) - 1)));
  }
  SIMT_INLINE unsigned meta_group_rank() const { return 0; }
  SIMT_INLINE unsigned meta_group_size() const { return 1; }
};
SIMT_INLINE coalesced_group coalesced_threads() { return coalesced_group(simt_active_mask()); }

template <unsigned N, class Group>
SIMT_INLINE thread_block_tile<N, Group> tiled_partition(const Group&) {
  return {};
}
SIMT_INLINE thread_group tiled_partition(const thread_group& group, unsigned n) {
  const unsigned rank = group.is_block ? simt::thread_rank() : group.rank;
  const unsigned mask = n >= 32 ? ~0u : ((1u << n) - 1) << (simt::lane() / n * n);
  return {mask, rank % n, n, false};
}
template <class Group>
SIMT_INLINE coalesced_group binary_partition(const Group& group, bool p) {
  const unsigned yes = __ballot_sync(group.mask(), p);
  return coalesced_group(p ? yes : group.mask() & ~yes);
}
template <class Group, class T>
SIMT_INLINE coalesced_group labeled_partition(const Group& group, T label) {
  return coalesced_group(__match_any_sync(group.mask(), label));
}

template <class Group>
SIMT_INLINE void sync(const Group& group) {
  group.sync();
}
template <class Group>
SIMT_INLINE unsigned group_size(const Group& group) {
  return group.size();
}
template <class Group>
SIMT_INLINE unsigned thread_rank(const Group& group) {
  return group.thread_rank();
}

#define SIMT_OPERATION(name, value)                            \
  template <class T>                                           \
  struct name {                                                \
    SIMT_INLINE T operator()(T a, T b) const { return value; } \
  };
SIMT_OPERATION(plus, a + b)
SIMT_OPERATION(less, b < a ? b : a)
SIMT_OPERATION(greater, a < b ? b : a)
SIMT_OPERATION(bit_and, a& b)
SIMT_OPERATION(bit_or, a | b)
SIMT_OPERATION(bit_xor, a ^ b)
#undef SIMT_OPERATION

template <class Group, class T, class Op>
SIMT_INLINE T inclusive_scan(const Group& group, T value, Op op) {
  for (unsigned delta = 1; delta < group.size(); delta *= 2) {
    const T other = group.shfl_up(value, delta);
    if (group.thread_rank() >= delta) value = op(other, value);
  }
  return value;
}
// Reductions of 32-bit integers that are one instruction on a GPU.
template <class Op, class T>
struct at_once {
  static constexpr bool exists = false;
};
#define SIMT_AT_ONCE(operation, T, function, type)                     \
  template <>                                                          \
  struct at_once<operation<T>, T> {                                    \
    static constexpr bool exists = true;                               \
    static SIMT_INLINE T reduce(unsigned mask, T value) {              \
      return static_cast<T>(function(mask, static_cast<type>(value))); \
    }                                                                  \
  };
#define SIMT_AT_ONCE_SIGNED_TOO(operation, function, type_of_int) \
  SIMT_AT_ONCE(operation, int, function, type_of_int)             \
  SIMT_AT_ONCE(operation, unsigned, function, unsigned)
SIMT_AT_ONCE_SIGNED_TOO(plus, __reduce_add_sync, int)
SIMT_AT_ONCE_SIGNED_TOO(less, __reduce_min_sync, int)
SIMT_AT_ONCE_SIGNED_TOO(greater, __reduce_max_sync, int)
SIMT_AT_ONCE_SIGNED_TOO(bit_and, __reduce_and_sync, unsigned)
SIMT_AT_ONCE_SIGNED_TOO(bit_or, __reduce_or_sync, unsigned)
SIMT_AT_ONCE_SIGNED_TOO(bit_xor, __reduce_xor_sync, unsigned)
#undef SIMT_AT_ONCE_SIGNED_TOO
#undef SIMT_AT_ONCE

// A tile exchanges halves and other groups scan, as on a GPU: sums round alike, and counts are
// alike.
template <class Group, class T, class Op>
SIMT_INLINE T reduce(const Group& group, T value, Op op) {
  if constexpr (at_once<Op, T>::exists) {
    if (group.is_reduced_at_once()) return at_once<Op, T>::reduce(group.mask(), value);
  }
  if (!group.exchanges_halves()) {
    return group.shfl(inclusive_scan(group, value, op), static_cast<int>(group.size()) - 1);
  }
  for (unsigned half = group.size() / 2; half > 0; half /= 2)
    value = op(value, group.shfl_xor(value, half));
  return value;
}
template <class Group, class T>
SIMT_INLINE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Op>
SIMT_INLINE T exclusive_scan(const Group& group, T value, Op op) {
  const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() ? before : T{};
}
template <class Group, class T>
SIMT_INLINE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

// Copies that have landed when the call returns.
template <class Group, class T>
SIMT_INLINE void memcpy_async(const Group& group, T* to, const T* from, std::size_t bytes) {
  const std::size_t count = bytes / sizeof(T);
  for (std::size_t i = group.thread_rank(); i < count; i += group.size()) to[i] = from[i];
}
template <class Group>
SIMT_INLINE void wait(const Group& group) {
  group.sync();
}
template <unsigned N, class Group>
SIMT_INLINE void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
