#pragma once
// cub's sorts over device memory: by merging, which keeps the order of equal keys as radix does.

#include "simt/cub/device.hpp"

namespace cub {

// A key's bits in the order that radix sort compares.
template <class K>
SIMT_INLINE unsigned long long ordered_bits(K key) {
  constexpr int kBits = sizeof(K) * 8;
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &key, sizeof key);
  constexpr unsigned long long kSign = 1ull << (kBits - 1);
  if constexpr (std::is_integral_v<K>) return std::is_signed_v<K> ? bits ^ kSign : bits;
  constexpr unsigned long long kAll = kSign | (kSign - 1);
  return bits & kSign ? ~bits & kAll : bits ^ kSign;
}

template <class K>
struct RadixLess {
  int begin, end;
  bool descending;
  SIMT_INLINE unsigned long long part(K key) const {
    const int bits = end - begin;
    const unsigned long long shifted = ordered_bits(key) >> begin;
    return bits >= 64 ? shifted : shifted & ((1ull << bits) - 1);
  }
  SIMT_INLINE bool operator()(K a, K b) const {
    return descending ? part(b) < part(a) : part(a) < part(b);
  }
};

struct DeviceRadixSort {
  template <class K>
  static cudaError_t keys(const K* in, K* out, std::ptrdiff_t n, RadixLess<K> is_less) {
    thrust::detail::on_device("cub::DeviceRadixSort", [=] {
      for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = in[i];
      thrust::detail::sort_algorithm::run(out, out + n, is_less);
    });
    return cudaSuccess;
  }
  template <class K, class V>
  static cudaError_t pairs(const K* in, K* out, const V* values, V* values_out, std::ptrdiff_t n,
                           RadixLess<K> is_less) {
    thrust::detail::on_device("cub::DeviceRadixSort", [=] {
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        out[i] = in[i];
        values_out[i] = values[i];
      }
      thrust::detail::sort_by_key_algorithm::run(out, out + n, values_out, is_less);
    });
    return cudaSuccess;
  }
#define SIMT_RADIX_SORT(suffix, descending)                                                       \
  template <class K, class N>                                                                     \
  static cudaError_t SortKeys##suffix(void* temporary, std::size_t& bytes, const K* in, K* out,   \
                                      N n, int begin = 0, int end = sizeof(K) * 8,                \
                                      cudaStream_t = nullptr, bool = false) {                     \
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);                                                      \
    return keys(in, out, n, RadixLess<K>{begin, end, descending});                                \
  }                                                                                               \
  template <class K, class N>                                                                     \
  static cudaError_t SortKeys##suffix(void* temporary, std::size_t& bytes, DoubleBuffer<K>& both, \
                                      N n, int begin = 0, int end = sizeof(K) * 8,                \
                                      cudaStream_t = nullptr, bool = false) {                     \
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);                                                      \
    both.selector ^= 1;                                                                           \
    return keys(both.Alternate(), both.Current(), n, RadixLess<K>{begin, end, descending});       \
  }                                                                                               \
  template <class K, class V, class N>                                                            \
  static cudaError_t SortPairs##suffix(                                                           \
      void* temporary, std::size_t& bytes, const K* in, K* out, const V* values, V* values_out,   \
      N n, int begin = 0, int end = sizeof(K) * 8, cudaStream_t = nullptr, bool = false) {        \
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);                                                      \
    return pairs(in, out, values, values_out, n, RadixLess<K>{begin, end, descending});           \
  }                                                                                               \
  template <class K, class V, class N>                                                            \
  static cudaError_t SortPairs##suffix(                                                           \
      void* temporary, std::size_t& bytes, DoubleBuffer<K>& k, DoubleBuffer<V>& v, N n,           \
      int begin = 0, int end = sizeof(K) * 8, cudaStream_t = nullptr, bool = false) {             \
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);                                                      \
    k.selector ^= 1;                                                                              \
    v.selector ^= 1;                                                                              \
    return pairs(k.Alternate(), k.Current(), v.Alternate(), v.Current(), n,                       \
                 RadixLess<K>{begin, end, descending});                                           \
  }
  SIMT_RADIX_SORT(, false)
  SIMT_RADIX_SORT(Descending, true)
#undef SIMT_RADIX_SORT
};

struct DeviceMergeSort {
  template <class I, class N, class Less>
  static cudaError_t SortKeys(void* temporary, std::size_t& bytes, I keys, N n, Less is_less,
                              cudaStream_t = nullptr, bool = false) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    thrust::detail::on_device("cub::DeviceMergeSort", [=] {
      thrust::detail::sort_algorithm::run(keys, keys + n, is_less);
    });
    return cudaSuccess;
  }
  template <class I, class V, class N, class Less>
  static cudaError_t SortPairs(void* temporary, std::size_t& bytes, I keys, V values, N n,
                               Less is_less, cudaStream_t = nullptr, bool = false) {
    SIMT_ASKS_FOR_STORAGE(temporary, bytes);
    thrust::detail::on_device("cub::DeviceMergeSort", [=] {
      thrust::detail::sort_by_key_algorithm::run(keys, keys + n, values, is_less);
    });
    return cudaSuccess;
  }
};

}  // namespace cub
