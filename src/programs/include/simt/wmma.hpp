#pragma once
// nvcuda::wmma for 16×16×16 halves and bfloat16 and 16×16×8 floats. A fragment's elements lie as in
// warp_products.hpp; a fragment 16 columns wide is two of 8.

#include "simt/warp_products.hpp"

namespace nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
namespace simt_detail {
template <class T>
struct stored {
  using type = T;
};
template <>
struct stored<precision::tf32> {
  using type = float;
};
struct Place {
  int row, column;
};
// Element `e` of A, B (row is k) or the accumulator, of elements of `bytes`.
SIMT_INLINE Place place_in_a(int e, bool halves) {
  const int g = static_cast<int>(::simt::lane()) / 4, t = static_cast<int>(::simt::lane()) % 4;
  if (halves) return {g + 8 * (e / 2 % 2), 2 * t + e % 2 + 8 * (e / 4)};
  return {g + 8 * (e % 2), t + 4 * (e / 2)};
}
SIMT_INLINE Place place_in_b(int e, bool halves) {
  const int g = static_cast<int>(::simt::lane()) / 4, t = static_cast<int>(::simt::lane()) % 4;
  if (halves) return {2 * t + e % 2 + 8 * (e / 2 % 2), g + 8 * (e / 4)};
  return {t + 4 * (e % 2), g + 8 * (e / 2)};
}
SIMT_INLINE Place place_in_sums(int e) {
  const int g = static_cast<int>(::simt::lane()) / 4, t = static_cast<int>(::simt::lane()) % 4;
  return {g + 8 * (e / 2 % 2), 2 * t + e % 2 + 8 * (e / 4)};
}
}  // namespace simt_detail

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static constexpr bool kFloats = std::is_same_v<T, precision::tf32>;
  static constexpr bool kSums = std::is_same_v<Use, accumulator>;
  static_assert(m == 16 && n == 16, "only 16x16 tiles of wmma are provided here");
  static_assert(kSums || k == (kFloats ? 8 : 16), "of k only 16, or 8 of tf32, is provided here");

 public:
  using element_type = typename simt_detail::stored<T>::type;
  static_assert(kFloats || sizeof(element_type) == 2 || std::is_same_v<T, float>,
                "wmma of this type is not provided here");
  static constexpr int num_elements = kFloats ? 4 : 8;
  element_type x[num_elements];
};

template <class Use, int m, int n, int k, class T, class Layout, class V>
SIMT_INLINE void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, const V& value) {
  for (auto& x : f.x) x = value;
}
#define SIMT_LOAD_OPERAND(Use, place, along_row)                                             \
  template <int m, int n, int k, class T, class Layout, class P>                             \
  SIMT_INLINE void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const P* from,     \
                                    unsigned stride) {                                       \
    constexpr bool kHalves = sizeof(f.x[0]) == 2;                                            \
    constexpr bool kByRow = std::is_same_v<Layout, row_major>;                               \
    const auto address = [&](int e) {                                                        \
      const simt_detail::Place p = simt_detail::place(e, kHalves);                           \
      return from + (kByRow ? p.row * stride + p.column : p.column * stride + p.row);        \
    };                                                                                       \
    if constexpr (kHalves && kByRow == along_row) { /* two neighbours along k in one load */ \
      for (int e = 0; e < f.num_elements; e += 2) {                                          \
        const auto both = *reinterpret_cast<const std::uint32_t*>(address(e));               \
        __builtin_memcpy(&f.x[e], &both, sizeof both);                                       \
      }                                                                                      \
    } else {                                                                                 \
      for (int e = 0; e < f.num_elements; ++e) f.x[e] = *address(e);                         \
    }                                                                                        \
    __syncwarp();                                                                            \
  }
SIMT_LOAD_OPERAND(matrix_a, place_in_a, true)
SIMT_LOAD_OPERAND(matrix_b, place_in_b, false)
#undef SIMT_LOAD_OPERAND
template <int m, int n, int k, class T>
SIMT_INLINE void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* from,
                                  unsigned stride, layout_t layout) {
  for (int e = 0; e < f.num_elements; ++e) {
    const simt_detail::Place p = simt_detail::place_in_sums(e);
    f.x[e] = from[layout == mem_row_major ? p.row * stride + p.column : p.column * stride + p.row];
  }
  __syncwarp();
}
template <int m, int n, int k, class T>
SIMT_INLINE void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& f,
                                   unsigned stride, layout_t layout) {
  __syncwarp();
  for (int e = 0; e < f.num_elements; ++e) {
    const simt_detail::Place p = simt_detail::place_in_sums(e);
    to[layout == mem_row_major ? p.row * stride + p.column : p.column * stride + p.row] = f.x[e];
  }
}
template <int m, int n, int k, class T, class LA, class LB, class D, class C>
SIMT_INLINE void mma_sync(fragment<accumulator, m, n, k, D>& d,
                          const fragment<matrix_a, m, n, k, T, LA>& a,
                          const fragment<matrix_b, m, n, k, T, LB>& b,
                          const fragment<accumulator, m, n, k, C>& c, bool = false) {
  unsigned words_a[4], words_b[2];
  __builtin_memcpy(words_a, a.x, sizeof words_a);
  for (int half = 0; half < 2; ++half) {
    float sums[4];
    for (int s = 0; s < 4; ++s) sums[s] = c.x[4 * half + s];
    __builtin_memcpy(words_b, &b.x[b.num_elements / 2 * half], sizeof words_b);
    if constexpr (std::is_same_v<T, precision::tf32>) {
      ::simt::mma_tf32(sums, words_a, words_b);
    } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
      ::simt::mma_bfloat(sums, words_a, words_b);
    } else {
      ::simt::mma_half(sums, words_a, words_b);
    }
    for (int s = 0; s < 4; ++s) d.x[4 * half + s] = sums[s];
  }
}
SIMT_INLINE float __float_to_tf32(float value) {
  return ::simt::bits<float>((::simt::bits<unsigned>(value) + 0x1000u) & 0xffffe000u);
}

}  // namespace nvcuda::wmma
