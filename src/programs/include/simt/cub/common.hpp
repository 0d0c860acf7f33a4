#pragma once
// What cub's parts share: function objects, iterators, storage in shared memory.

#include "simt/thrust/rearranging.hpp"
#include "simt/warp.hpp"

namespace cub {

#define SIMT_OPERATION(name, value)               \
  struct name {                                   \
    template <class A, class B>                   \
    SIMT_INLINE auto operator()(A a, B b) const { \
      return value;                               \
    }                                             \
  };
SIMT_OPERATION(Sum, a + b)
SIMT_OPERATION(Difference, a - b)
SIMT_OPERATION(Division, a / b)
SIMT_OPERATION(Equality, a == b)
SIMT_OPERATION(Inequality, a != b)
#undef SIMT_OPERATION
struct Max {
  template <class T>
  SIMT_INLINE T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T>
  SIMT_INLINE T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
template <class Key, class Value>
struct KeyValuePair {
  using Key_t = Key;
  Key key;
  Value value;
};
struct ArgMax {
  template <class K, class V>
  SIMT_INLINE KeyValuePair<K, V> operator()(KeyValuePair<K, V> a, KeyValuePair<K, V> b) const {
    return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class K, class V>
  SIMT_INLINE KeyValuePair<K, V> operator()(KeyValuePair<K, V> a, KeyValuePair<K, V> b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct NullType {};

template <class T, class... Ignored>
using CountingInputIterator = thrust::counting_iterator<T>;
template <class T, class... Ignored>
using ConstantInputIterator = thrust::constant_iterator<T>;
template <class T, class F, class I, class... Ignored>
struct TransformInputIterator
    : thrust::iterator_base<TransformInputIterator<T, F, I, Ignored...>, T, T> {
  I base;
  F function;
  SIMT_INLINE TransformInputIterator(I i, F f) : base(i), function(f) {}
  SIMT_INLINE T get_at() const { return function(*base); }
  SIMT_INLINE void move(std::ptrdiff_t n) { base += n; }
  SIMT_INLINE std::ptrdiff_t steps_to(const TransformInputIterator& other) const {
    return other.base - base;
  }
};
template <class I, class... Ignored>
struct ArgIndexInputIterator
    : thrust::iterator_base<ArgIndexInputIterator<I, Ignored...>,
                            KeyValuePair<int, thrust::iterator_value_t<I>>,
                            KeyValuePair<int, thrust::iterator_value_t<I>>> {
  I base;
  std::ptrdiff_t at;
  SIMT_INLINE explicit ArgIndexInputIterator(I i, std::ptrdiff_t n = 0) : base(i), at(n) {}
  SIMT_INLINE KeyValuePair<int, thrust::iterator_value_t<I>> get_at() const {
    return {static_cast<int>(at), base[at]};
  }
  SIMT_INLINE void move(std::ptrdiff_t n) { at += n; }
  SIMT_INLINE std::ptrdiff_t steps_to(const ArgIndexInputIterator& other) const {
    return other.at - at;
  }
};

enum CacheLoadModifier {
  LOAD_DEFAULT,
  LOAD_CA,
  LOAD_CG,
  LOAD_CS,
  LOAD_CV,
  LOAD_LDG,
  LOAD_VOLATILE
};
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier, class T, class... Ignored>
using CacheModifiedInputIterator = const T*;
template <CacheLoadModifier modifier = LOAD_DEFAULT, class I>
SIMT_INLINE auto ThreadLoad(I i) {
  return *i;
}
template <CacheStoreModifier modifier = STORE_DEFAULT, class I, class T>
SIMT_INLINE void ThreadStore(I i, T value) {
  *i = value;
}

// Room for T in shared memory, which no constructor has touched.
template <class T, int count>
struct Room {
  alignas(T) unsigned char bytes[sizeof(T) * (count > 0 ? count : 1)];
  SIMT_INLINE T* items() { return reinterpret_cast<T*>(bytes); }
  SIMT_INLINE Room& Alias() { return *this; }
};
template <class T>
using Uninitialized = Room<T, 1>;

SIMT_INLINE unsigned LaneId() { return simt::lane(); }
SIMT_INLINE unsigned WarpId() { return simt::warp(); }
SIMT_INLINE int RowMajorTid(int x, int y, int) {
  return static_cast<int>((threadIdx.z * y + threadIdx.y) * x + threadIdx.x);
}
template <class T>
SIMT_INLINE constexpr T DivideAndRoundUp(T a, T b) {
  return (a + b - 1) / b;
}
// Lanes of this warp that exist: the last warp of an odd block has fewer.
SIMT_INLINE unsigned lanes_there() {
  const unsigned left = simt::block_threads() - simt::warp() * 32;
  return left >= 32 ? ~0u : (1u << left) - 1;
}
SIMT_INLINE int count_there() { return __builtin_popcount(lanes_there()); }

template <class T, class Op>
SIMT_INLINE T apply_of(Op op, const T& a, const T& b) {
  return static_cast<T>(op(a, b));
}

}  // namespace cub
