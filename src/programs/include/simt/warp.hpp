#pragma once
// Barriers, what the lanes of a warp hand each other, and atomics.

#include "simt/language.hpp"

SIMT_INLINE void __syncthreads() { simt_sync_block(simt::kBarrier, 0); }
SIMT_INLINE int __syncthreads_and(int p) { return simt_sync_block(simt::kBarrierAnd, p); }
SIMT_INLINE int __syncthreads_or(int p) { return simt_sync_block(simt::kBarrierOr, p); }
SIMT_INLINE int __syncthreads_count(int p) { return simt_sync_block(simt::kBarrierCount, p); }
SIMT_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { simt_sync_warp(mask); }
SIMT_INLINE void __threadfence_block() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
SIMT_INLINE void __threadfence() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
SIMT_INLINE void __threadfence_system() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

SIMT_INLINE unsigned __activemask() { return simt_active_mask(); }
SIMT_INLINE unsigned __ballot_sync(unsigned mask, int p) {
  return simt_vote(mask, p != 0, simt::kBallot);
}
SIMT_INLINE int __any_sync(unsigned mask, int p) {
  return static_cast<int>(simt_vote(mask, p != 0, simt::kAny));
}
SIMT_INLINE int __all_sync(unsigned mask, int p) {
  return static_cast<int>(simt_vote(mask, p != 0, simt::kAll));
}
// As they were before Volta: for the lanes that are at this place.
SIMT_INLINE unsigned __ballot(int p) { return __ballot_sync(simt_active_mask(), p); }
SIMT_INLINE int __any(int p) { return __any_sync(simt_active_mask(), p); }
SIMT_INLINE int __all(int p) { return __all_sync(simt_active_mask(), p); }

namespace simt {
// Values of more than 4 bytes take a shuffle for each 4 of them, as on a GPU.
template <class T>
SIMT_INLINE T shuffle(unsigned mask, T value, int form, int argument, int width) {
  std::uint32_t words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof value);
  for (auto& word : words)
    word = static_cast<std::uint32_t>(simt_shuffle(mask, word, form, argument, width));
  __builtin_memcpy(&value, words, sizeof value);
  return value;
}
}  // namespace simt
#define SIMT_SHUFFLE(name, form, Argument)                                                    \
  template <class T>                                                                          \
  SIMT_INLINE T name##_sync(unsigned mask, T value, Argument argument, int width = 32) {      \
    return simt::shuffle(mask, value, form, static_cast<int>(argument), width);               \
  }                                                                                           \
  template <class T>                                                                          \
  SIMT_INLINE T name(T value, Argument argument, int width = 32) {                            \
    return simt::shuffle(simt_active_mask(), value, form, static_cast<int>(argument), width); \
  }
SIMT_SHUFFLE(__shfl, simt::kIndex, int)
SIMT_SHUFFLE(__shfl_up, simt::kUp, unsigned)
SIMT_SHUFFLE(__shfl_down, simt::kDown, unsigned)
SIMT_SHUFFLE(__shfl_xor, simt::kXor, int)
#undef SIMT_SHUFFLE

#define SIMT_REDUCE(name, type, form)                                                \
  SIMT_INLINE type name(unsigned mask, type value) {                                 \
    return static_cast<type>(simt_reduce(mask, static_cast<unsigned>(value), form)); \
  }
SIMT_REDUCE(__reduce_add_sync, unsigned, simt::kAdd)
SIMT_REDUCE(__reduce_add_sync, int, simt::kAdd)
SIMT_REDUCE(__reduce_min_sync, int, simt::kMinSigned)
SIMT_REDUCE(__reduce_max_sync, int, simt::kMaxSigned)
SIMT_REDUCE(__reduce_min_sync, unsigned, simt::kMinUnsigned)
SIMT_REDUCE(__reduce_max_sync, unsigned, simt::kMaxUnsigned)
SIMT_REDUCE(__reduce_and_sync, unsigned, simt::kAnd)
SIMT_REDUCE(__reduce_or_sync, unsigned, simt::kOr)
SIMT_REDUCE(__reduce_xor_sync, unsigned, simt::kXorBits)
#undef SIMT_REDUCE

template <class T>
SIMT_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  unsigned same = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const T other = __shfl_sync(mask, value, lane);
    same |= static_cast<unsigned>(other == value) << lane;
  }
  return same;
}
template <class T>
SIMT_INLINE unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  const T first = __shfl_sync(mask, value, __builtin_ctz(mask));
  *predicate = __all_sync(mask, first == value);
  return *predicate ? mask : 0;
}

// ---- atomics: performed by the executor, in the order of the blocks
namespace simt {
template <class T>
SIMT_INLINE T atomic(T* address, T operand, T compare, int form) {
  void* const at = const_cast<std::remove_volatile_t<T>*>(address);
  if constexpr (sizeof(T) == 4) {
    return bits<T>(
        simt_atomic4(at, bits<std::uint32_t>(operand), bits<std::uint32_t>(compare), form));
  } else {
    return bits<T>(
        simt_atomic8(at, bits<std::uint64_t>(operand), bits<std::uint64_t>(compare), form));
  }
}
}  // namespace simt
#define SIMT_ATOMIC_1(name, type, form)                    \
  SIMT_INLINE type name(type* address, type operand) {     \
    return simt::atomic<type>(address, operand, {}, form); \
  }
#define SIMT_ATOMIC(name, type, form)     \
  SIMT_ATOMIC_1(name, type, form)         \
  SIMT_ATOMIC_1(name##_block, type, form) \
  SIMT_ATOMIC_1(name##_system, type, form)
#define SIMT_ATOMIC_WORDS(name, form)    \
  SIMT_ATOMIC(name, int, form)           \
  SIMT_ATOMIC(name, unsigned, form)      \
  SIMT_ATOMIC(name, unsigned long, form) \
  SIMT_ATOMIC(name, unsigned long long, form)
SIMT_ATOMIC_WORDS(atomicAdd, simt::kAtomicAdd)
SIMT_ATOMIC(atomicAdd, float, simt::kAtomicAddFloat)
SIMT_ATOMIC(atomicAdd, double, simt::kAtomicAddFloat)
SIMT_ATOMIC_WORDS(atomicExch, simt::kAtomicExchange)
SIMT_ATOMIC(atomicExch, float, simt::kAtomicExchange)
SIMT_ATOMIC(atomicMin, int, simt::kAtomicMinSigned)
SIMT_ATOMIC(atomicMin, long long, simt::kAtomicMinSigned)
SIMT_ATOMIC(atomicMax, int, simt::kAtomicMaxSigned)
SIMT_ATOMIC(atomicMax, long long, simt::kAtomicMaxSigned)
SIMT_ATOMIC(atomicMin, unsigned, simt::kAtomicMinUnsigned)
SIMT_ATOMIC(atomicMin, unsigned long, simt::kAtomicMinUnsigned)
SIMT_ATOMIC(atomicMin, unsigned long long, simt::kAtomicMinUnsigned)
SIMT_ATOMIC(atomicMax, unsigned, simt::kAtomicMaxUnsigned)
SIMT_ATOMIC(atomicMax, unsigned long, simt::kAtomicMaxUnsigned)
SIMT_ATOMIC(atomicMax, unsigned long long, simt::kAtomicMaxUnsigned)
SIMT_ATOMIC_WORDS(atomicAnd, simt::kAtomicAnd)
SIMT_ATOMIC_WORDS(atomicOr, simt::kAtomicOr)
SIMT_ATOMIC_WORDS(atomicXor, simt::kAtomicXor)
SIMT_ATOMIC(atomicInc, unsigned, simt::kAtomicIncrement)
SIMT_ATOMIC(atomicDec, unsigned, simt::kAtomicDecrement)
#undef SIMT_ATOMIC_WORDS
#undef SIMT_ATOMIC
#undef SIMT_ATOMIC_1
SIMT_INLINE int atomicSub(int* address, int operand) { return atomicAdd(address, -operand); }
SIMT_INLINE unsigned atomicSub(unsigned* address, unsigned operand) {
  return atomicAdd(address, 0u - operand);
}
#define SIMT_COMPARE_SWAP_1(name, type)                                           \
  SIMT_INLINE type name(type* address, type compare, type value) {                \
    return simt::atomic<type>(address, value, compare, simt::kAtomicCompareSwap); \
  }
#define SIMT_COMPARE_SWAP(type)              \
  SIMT_COMPARE_SWAP_1(atomicCAS, type)       \
  SIMT_COMPARE_SWAP_1(atomicCAS_block, type) \
  SIMT_COMPARE_SWAP_1(atomicCAS_system, type)
SIMT_COMPARE_SWAP(int)
SIMT_COMPARE_SWAP(unsigned)
SIMT_COMPARE_SWAP(unsigned long)
SIMT_COMPARE_SWAP(unsigned long long)
#undef SIMT_COMPARE_SWAP
#undef SIMT_COMPARE_SWAP_1
