#pragma once
// cuda::atomic and cuda::atomic_ref over words of 4 and 8 bytes. Every access is an atomic of the
// executor, so that orders of memory change nothing.

#include <atomic>

#include "simt/barrier.hpp"

namespace cuda {
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
namespace std {
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;
}  // namespace std

template <class T, thread_scope Scope = thread_scope_system>
class atomic_ref {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics of 4 and 8 bytes are provided here");

 public:
  SIMT_INLINE explicit atomic_ref(T& place) : place_(&place) {}
  // Host code may use it as well, where there is nobody to race with.
  SIMT_INLINE T load(memory_order = memory_order_seq_cst) const {
    if (!program_in_kernel()) return *place_;
    return ::simt::atomic<T>(place_, T{}, T{}, ::simt::kAtomicOr);
  }
  SIMT_INLINE void store(T value, memory_order = memory_order_seq_cst) const { exchange(value); }
  SIMT_INLINE T exchange(T value, memory_order = memory_order_seq_cst) const {
    if (!program_in_kernel()) return ::std::exchange(*place_, value);
    return ::simt::atomic<T>(place_, value, T{}, ::simt::kAtomicExchange);
  }
  SIMT_INLINE bool compare_exchange_strong(T& expected, T value,
                                           memory_order = memory_order_seq_cst,
                                           memory_order = memory_order_seq_cst) const {
    const T old = program_in_kernel()
                      ? ::simt::atomic<T>(place_, value, expected, ::simt::kAtomicCompareSwap)
                      : *place_;
    const bool same = __builtin_memcmp(&old, &expected, sizeof old) == 0;
    if (same && !program_in_kernel()) *place_ = value;
    expected = old;
    return same;
  }
  SIMT_INLINE bool compare_exchange_weak(T& expected, T value, memory_order = memory_order_seq_cst,
                                         memory_order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, value);
  }
#define SIMT_FETCH(name, op)                                                 \
  template <class U>                                                         \
  SIMT_INLINE T name(U operand, memory_order = memory_order_seq_cst) const { \
    T old = load();                                                          \
    while (!compare_exchange_strong(old, static_cast<T>(op))) {              \
    }                                                                        \
    return old;                                                              \
  }
  SIMT_FETCH(fetch_sub, old - operand)
  SIMT_FETCH(fetch_and, old& operand)
  SIMT_FETCH(fetch_or, old | operand)
  SIMT_FETCH(fetch_xor, old ^ operand)
  SIMT_FETCH(fetch_min, operand < old ? operand : old)
  SIMT_FETCH(fetch_max, old < operand ? operand : old)
#undef SIMT_FETCH
  SIMT_INLINE T fetch_add(T operand, memory_order = memory_order_seq_cst) const {
    if (!program_in_kernel()) return ::std::exchange(*place_, static_cast<T>(*place_ + operand));
    constexpr int kForm =
        ::std::is_floating_point_v<T> ? ::simt::kAtomicAddFloat : ::simt::kAtomicAdd;
    return ::simt::atomic<T>(place_, operand, T{}, kForm);
  }
  SIMT_INLINE T operator++() const { return static_cast<T>(fetch_add(1) + 1); }
  SIMT_INLINE T operator++(int) const { return fetch_add(1); }
  SIMT_INLINE T operator--() const { return static_cast<T>(fetch_sub(1) - 1); }
  SIMT_INLINE T operator--(int) const { return fetch_sub(1); }
  SIMT_INLINE T operator+=(T operand) const { return static_cast<T>(fetch_add(operand) + operand); }
  SIMT_INLINE T operator-=(T operand) const { return static_cast<T>(fetch_sub(operand) - operand); }
  SIMT_INLINE operator T() const { return load(); }
  SIMT_INLINE T operator=(T value) const { return store(value), value; }
  // Others must run meanwhile.
  SIMT_INLINE void wait(T old, memory_order = memory_order_seq_cst) const {
    while (load() == old) program_yield();
  }
  SIMT_INLINE void notify_one() const {}
  SIMT_INLINE void notify_all() const {}

 private:
  T* place_;
};

template <class T, thread_scope Scope = thread_scope_system>
class atomic {
 public:
  atomic() = default;
  constexpr atomic(T value) : value_(value) {}
#define SIMT_FORWARD(name)                          \
  template <class... A>                             \
  SIMT_INLINE decltype(auto) name(A&&... a) const { \
    return ref().name(static_cast<A&&>(a)...);      \
  }
  SIMT_FORWARD(load)
  SIMT_FORWARD(store)
  SIMT_FORWARD(exchange)
  SIMT_FORWARD(compare_exchange_strong)
  SIMT_FORWARD(compare_exchange_weak)
  SIMT_FORWARD(fetch_add)
  SIMT_FORWARD(fetch_sub)
  SIMT_FORWARD(fetch_and)
  SIMT_FORWARD(fetch_or)
  SIMT_FORWARD(fetch_xor)
  SIMT_FORWARD(fetch_min)
  SIMT_FORWARD(fetch_max)
  SIMT_FORWARD(wait)
  SIMT_FORWARD(notify_one)
  SIMT_FORWARD(notify_all)
#undef SIMT_FORWARD
  SIMT_INLINE T operator++() const { return ++ref(); }
  SIMT_INLINE T operator++(int) const { return ref()++; }
  SIMT_INLINE T operator--() const { return --ref(); }
  SIMT_INLINE T operator--(int) const { return ref()--; }
  SIMT_INLINE T operator+=(T operand) const { return ref() += operand; }
  SIMT_INLINE T operator-=(T operand) const { return ref() -= operand; }
  SIMT_INLINE operator T() const { return load(); }
  SIMT_INLINE T operator=(T value) const { return store(value), value; }

 private:
  SIMT_INLINE atomic_ref<T, Scope> ref() const { return atomic_ref<T, Scope>(value_); }
  mutable T value_;
};
SIMT_INLINE void atomic_thread_fence(memory_order, thread_scope = thread_scope_system) {
  __threadfence();
}
}  // namespace cuda
