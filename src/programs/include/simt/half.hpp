#pragma once
// half and bfloat16: 2 bytes in memory, computed in float and rounded to nearest even.

#include <immintrin.h>

#include "simt/vectors.hpp"
#include "simt/warp.hpp"

namespace simt {
struct HalfFormat {
  static SIMT_INLINE unsigned short encode(float value) {
    return static_cast<unsigned short>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
  }
  static SIMT_INLINE float decode(unsigned short word) { return _cvtsh_ss(word); }
};
struct BfloatFormat {
  static SIMT_INLINE unsigned short encode(float value) {
    const auto word = bits<unsigned>(value);
    if (value != value) return 0x7fff;
    return static_cast<unsigned short>((word + 0x7fff + (word >> 16 & 1)) >> 16);
  }
  static SIMT_INLINE float decode(unsigned short word) {
    return bits<float>(static_cast<unsigned>(word) << 16);
  }
};

template <class Format>
struct alignas(2) Small {
  unsigned short word;
  Small() = default;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  SIMT_INLINE Small(T value) : word(Format::encode(static_cast<float>(value))) {}
  SIMT_INLINE operator float() const { return Format::decode(word); }
  SIMT_INLINE Small& operator+=(Small b) { return *this = *this + b; }
  SIMT_INLINE Small& operator-=(Small b) { return *this = *this - b; }
  SIMT_INLINE Small& operator*=(Small b) { return *this = *this * b; }
  SIMT_INLINE Small& operator/=(Small b) { return *this = *this / b; }
};
#define SIMT_SMALL_OPERATOR(op)                                      \
  template <class F>                                                 \
  SIMT_INLINE Small<F> operator op(Small<F> a, Small<F> b) {         \
    return Small<F>(static_cast<float>(a) op static_cast<float>(b)); \
  }
SIMT_SMALL_OPERATOR(+)
SIMT_SMALL_OPERATOR(-)
SIMT_SMALL_OPERATOR(*)
SIMT_SMALL_OPERATOR(/)
#undef SIMT_SMALL_OPERATOR
#define SIMT_SMALL_COMPARISON(op)                          \
  template <class F>                                       \
  SIMT_INLINE bool operator op(Small<F> a, Small<F> b) {   \
    return static_cast<float>(a) op static_cast<float>(b); \
  }
SIMT_SMALL_COMPARISON(==)
SIMT_SMALL_COMPARISON(!=)
SIMT_SMALL_COMPARISON(<)
SIMT_SMALL_COMPARISON(<=)
SIMT_SMALL_COMPARISON(>)
SIMT_SMALL_COMPARISON(>=)
#undef SIMT_SMALL_COMPARISON
template <class F>
SIMT_INLINE Small<F> operator-(Small<F> a) {
  return Small<F>(-static_cast<float>(a));
}

template <class Format>
struct alignas(4) Pair {
  Small<Format> x, y;
  Pair() = default;
  SIMT_INLINE Pair(Small<Format> x_, Small<Format> y_) : x(x_), y(y_) {}
  SIMT_INLINE Pair& operator+=(Pair b) { return *this = *this + b; }
  SIMT_INLINE Pair& operator-=(Pair b) { return *this = *this - b; }
  SIMT_INLINE Pair& operator*=(Pair b) { return *this = *this * b; }
  SIMT_INLINE Pair& operator/=(Pair b) { return *this = *this / b; }
};
#define SIMT_PAIR_OPERATOR(op)                            \
  template <class F>                                      \
  SIMT_INLINE Pair<F> operator op(Pair<F> a, Pair<F> b) { \
    return {a.x op b.x, a.y op b.y};                      \
  }
SIMT_PAIR_OPERATOR(+)
SIMT_PAIR_OPERATOR(-)
SIMT_PAIR_OPERATOR(*)
SIMT_PAIR_OPERATOR(/)
#undef SIMT_PAIR_OPERATOR
template <class F>
SIMT_INLINE Pair<F> operator-(Pair<F> a) {
  return {-a.x, -a.y};
}
template <class Small>
struct FormatOfSmall;
template <class F>
struct FormatOfSmall<Small<F>> {
  using type = F;
};
template <class Small>
using FormatOf = typename FormatOfSmall<Small>::type;
}  // namespace simt

typedef simt::Small<simt::HalfFormat> __half;
typedef simt::Pair<simt::HalfFormat> __half2;
typedef __half half;
typedef __half2 half2;
typedef simt::Small<simt::BfloatFormat> __nv_bfloat16;
typedef simt::Pair<simt::BfloatFormat> __nv_bfloat162;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

// ---- conversions
SIMT_INLINE __half __float2half(float a) { return __half(a); }
SIMT_INLINE __half __float2half_rn(float a) { return __half(a); }
SIMT_INLINE __half __double2half(double a) { return __half(a); }
SIMT_INLINE float __half2float(__half a) { return a; }
SIMT_INLINE __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
SIMT_INLINE __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
SIMT_INLINE __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
SIMT_INLINE float2 __half22float2(__half2 a) { return {a.x, a.y}; }
SIMT_INLINE __half2 __half2half2(__half a) { return {a, a}; }
SIMT_INLINE __half2 __halves2half2(__half a, __half b) { return {a, b}; }
SIMT_INLINE __half2 make_half2(__half a, __half b) { return {a, b}; }
SIMT_INLINE unsigned short __half_as_ushort(__half a) { return a.word; }
SIMT_INLINE short __half_as_short(__half a) { return static_cast<short>(a.word); }
SIMT_INLINE __half __ushort_as_half(unsigned short a) { return simt::bits<__half>(a); }
SIMT_INLINE __half __short_as_half(short a) { return simt::bits<__half>(a); }
SIMT_INLINE __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
SIMT_INLINE __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
SIMT_INLINE __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
SIMT_INLINE float __bfloat162float(__nv_bfloat16 a) { return a; }
SIMT_INLINE __nv_bfloat162 __float2bfloat162_rn(float a) {
  return {__nv_bfloat16(a), __nv_bfloat16(a)};
}
SIMT_INLINE __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return {__nv_bfloat16(a), __nv_bfloat16(b)};
}
SIMT_INLINE float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x, a.y}; }
SIMT_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
SIMT_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
SIMT_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.word; }
SIMT_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) {
  return simt::bits<__nv_bfloat16>(a);
}

// ---- arithmetic, for both formats
#define SIMT_BINARY(name, op)                                           \
  template <class F>                                                    \
  SIMT_INLINE simt::Small<F> name(simt::Small<F> a, simt::Small<F> b) { \
    return a op b;                                                      \
  }                                                                     \
  template <class F>                                                    \
  SIMT_INLINE simt::Pair<F> name##2(simt::Pair<F> a, simt::Pair<F> b) { \
    return a op b;                                                      \
  }
SIMT_BINARY(__hadd, +)
SIMT_BINARY(__hsub, -)
SIMT_BINARY(__hmul, *)
#undef SIMT_BINARY
template <class F>
SIMT_INLINE simt::Small<F> __hdiv(simt::Small<F> a, simt::Small<F> b) {
  return a / b;
}
template <class F>
SIMT_INLINE simt::Pair<F> __h2div(simt::Pair<F> a, simt::Pair<F> b) {
  return a / b;
}
template <class F>
SIMT_INLINE simt::Small<F> __hfma(simt::Small<F> a, simt::Small<F> b, simt::Small<F> c) {
  return simt::Small<F>(fmaf(a, b, c));
}
template <class F>
SIMT_INLINE simt::Pair<F> __hfma2(simt::Pair<F> a, simt::Pair<F> b, simt::Pair<F> c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
template <class F>
SIMT_INLINE simt::Small<F> __hmax(simt::Small<F> a, simt::Small<F> b) {
  return simt::Small<F>(fmaxf(a, b));
}
template <class F>
SIMT_INLINE simt::Small<F> __hmin(simt::Small<F> a, simt::Small<F> b) {
  return simt::Small<F>(fminf(a, b));
}
template <class F>
SIMT_INLINE simt::Pair<F> __hmax2(simt::Pair<F> a, simt::Pair<F> b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
template <class F>
SIMT_INLINE simt::Pair<F> __hmin2(simt::Pair<F> a, simt::Pair<F> b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
template <class F>
SIMT_INLINE simt::Small<F> __low2half(simt::Pair<F> a) {
  return a.x;
}
template <class F>
SIMT_INLINE simt::Small<F> __high2half(simt::Pair<F> a) {
  return a.y;
}
template <class F>
SIMT_INLINE float __low2float(simt::Pair<F> a) {
  return a.x;
}
template <class F>
SIMT_INLINE float __high2float(simt::Pair<F> a) {
  return a.y;
}
template <class F>
SIMT_INLINE simt::Small<F> __low2bfloat16(simt::Pair<F> a) {
  return a.x;
}
template <class F>
SIMT_INLINE simt::Small<F> __high2bfloat16(simt::Pair<F> a) {
  return a.y;
}

// The word around a half is exchanged until nobody came in between.
template <class F>
SIMT_INLINE simt::Small<F> atomicAdd(simt::Small<F>* address, simt::Small<F> value) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto* const word = reinterpret_cast<unsigned*>(at & ~std::uintptr_t{3});
  const unsigned shift = at & 2 ? 16 : 0;
  unsigned seen = atomicAdd(word, 0u), old;
  do {
    old = seen;
    const auto half = simt::bits<simt::Small<F>>(static_cast<unsigned short>(old >> shift));
    const unsigned sum = (half + value).word;
    seen = atomicCAS(word, old, (old & ~(0xffffu << shift)) | sum << shift);
  } while (seen != old);
  return simt::bits<simt::Small<F>>(static_cast<unsigned short>(old >> shift));
}
template <class F>
SIMT_INLINE simt::Pair<F> atomicAdd(simt::Pair<F>* address, simt::Pair<F> value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
