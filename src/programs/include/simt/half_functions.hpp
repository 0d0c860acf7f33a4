#pragma once
// The functions of half and bfloat16 beside operators (half.hpp): conversions by each rounding,
// saturated arithmetic, comparisons of pairs, and mathematics. Results are rounded from float.

#include <cmath>
#include <limits>

#include "simt/conversions.hpp"
#include "simt/half.hpp"

namespace simt {
// The neighbour of a number above it, or below.
SIMT_INLINE unsigned short neighbour(unsigned short word, bool above) {
  if ((word & 0x7fff) == 0) return above ? 0x0001 : 0x8001;
  return static_cast<unsigned short>((word >> 15 != 0) == above ? word - 1 : word + 1);
}
template <class F, Rounding rounding>
SIMT_INLINE Small<F> to_small(float value) {
  Small<F> near(value);
  const float got = near;
  if (rounding == Rounding::nearest || got == value || value != value) return near;
  const bool down = rounding == Rounding::down || (rounding == Rounding::to_zero && value > 0);
  if (down != (got > value)) return near;
  near.word = neighbour(near.word, !down);
  return near;
}
// An integer that no float holds becomes an odd float beside it, so that rounding once more is
// right.
template <class F, Rounding rounding, class Integer>
SIMT_INLINE Small<F> integer_to_small(Integer value) {
  if constexpr (rounding == Rounding::nearest) {
    const float cut = to_floating<float, Rounding::to_zero>(value);
    const bool exact = static_cast<long double>(cut) == static_cast<long double>(value);
    return Small<F>(exact ? cut : bits<float>(bits<unsigned>(cut) | 1));
  } else {
    return to_small<F, rounding>(to_floating<float, rounding>(value));
  }
}
template <class To>
SIMT_INLINE To small_to_integer(float whole) {
  if (sizeof(To) <= 4 && whole != whole) return 0;
  return to_integer<To, float>(whole);
}
// Into 0 … 1; NaN becomes 0.
SIMT_INLINE float saturated(float a) { return a > 0 ? fminf(a, 1.0f) : 0.0f; }
SIMT_INLINE float without_negatives(float a) { return a < 0 ? 0.0f : a; }
SIMT_INLINE float nan_or(float a, float b, float otherwise) {
  return a != a || b != b ? std::numeric_limits<float>::quiet_NaN() : otherwise;
}
template <class F, class Function>
SIMT_INLINE Pair<F> each_of(Pair<F> a, const Function& function) {
  return {function(a.x), function(a.y)};
}
template <class F, class Function>
SIMT_INLINE Pair<F> each_of(Pair<F> a, Pair<F> b, const Function& function) {
  return {function(a.x, b.x), function(a.y, b.y)};
}
}  // namespace simt

// ---- conversions
#define SIMT_ROUNDED_SMALL(type, Type, name, Integer, suffix, rounding, round)        \
  SIMT_INLINE Type __##name##2##type##suffix(Integer a) {                             \
    return simt::integer_to_small<simt::FormatOf<Type>, simt::Rounding::rounding>(a); \
  }                                                                                   \
  SIMT_INLINE Integer __##type##2##name##suffix(Type a) {                             \
    return simt::small_to_integer<Integer>(round(static_cast<float>(a)));             \
  }
#define SIMT_SMALL_INTEGER(type, Type, name, Integer)                 \
  SIMT_ROUNDED_SMALL(type, Type, name, Integer, _rn, nearest, rintf)  \
  SIMT_ROUNDED_SMALL(type, Type, name, Integer, _rz, to_zero, truncf) \
  SIMT_ROUNDED_SMALL(type, Type, name, Integer, _rd, down, floorf)    \
  SIMT_ROUNDED_SMALL(type, Type, name, Integer, _ru, up, ceilf)
#define SIMT_SMALL_CONVERSIONS(type, Type)                                   \
  SIMT_SMALL_INTEGER(type, Type, short, short)                               \
  SIMT_SMALL_INTEGER(type, Type, ushort, unsigned short)                     \
  SIMT_SMALL_INTEGER(type, Type, int, int)                                   \
  SIMT_SMALL_INTEGER(type, Type, uint, unsigned)                             \
  SIMT_SMALL_INTEGER(type, Type, ll, long long)                              \
  SIMT_SMALL_INTEGER(type, Type, ull, unsigned long long)                    \
  SIMT_INLINE Type __float2##type##_rz(float a) {                            \
    return simt::to_small<simt::FormatOf<Type>, simt::Rounding::to_zero>(a); \
  }                                                                          \
  SIMT_INLINE Type __float2##type##_rd(float a) {                            \
    return simt::to_small<simt::FormatOf<Type>, simt::Rounding::down>(a);    \
  }                                                                          \
  SIMT_INLINE Type __float2##type##_ru(float a) {                            \
    return simt::to_small<simt::FormatOf<Type>, simt::Rounding::up>(a);      \
  }                                                                          \
  SIMT_INLINE signed char __##type##2char_rz(Type a) {                       \
    return simt::small_to_integer<signed char>(truncf(a));                   \
  }                                                                          \
  SIMT_INLINE unsigned char __##type##2uchar_rz(Type a) {                    \
    return simt::small_to_integer<unsigned char>(truncf(a));                 \
  }
SIMT_SMALL_CONVERSIONS(half, __half)
SIMT_SMALL_CONVERSIONS(bfloat16, __nv_bfloat16)
#undef SIMT_SMALL_CONVERSIONS
#undef SIMT_SMALL_INTEGER
#undef SIMT_ROUNDED_SMALL
SIMT_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 a) {
  return {__nv_bfloat16(a.x), __nv_bfloat16(a.y)};
}
SIMT_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
SIMT_INLINE short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.word); }
SIMT_INLINE __nv_bfloat16 __short_as_bfloat16(short a) { return simt::bits<__nv_bfloat16>(a); }

// ---- halves of pairs
#define SIMT_PAIR_HALVES(Pair2, pair)                                      \
  SIMT_INLINE Pair2 __low2##pair(Pair2 a) { return {a.x, a.x}; }           \
  SIMT_INLINE Pair2 __high2##pair(Pair2 a) { return {a.y, a.y}; }          \
  SIMT_INLINE Pair2 __lows2##pair(Pair2 a, Pair2 b) { return {a.x, b.x}; } \
  SIMT_INLINE Pair2 __highs2##pair(Pair2 a, Pair2 b) { return {a.y, b.y}; }
SIMT_PAIR_HALVES(__half2, half2)
SIMT_PAIR_HALVES(__nv_bfloat162, bfloat162)
#undef SIMT_PAIR_HALVES
template <class F>
SIMT_INLINE simt::Pair<F> __lowhigh2highlow(simt::Pair<F> a) {
  return {a.y, a.x};
}

// ---- arithmetic that is saturated, clamped, or never fused
#define SIMT_SMALL_FUNCTION(name, value)                                         \
  template <class F>                                                             \
  SIMT_INLINE simt::Small<F> name(simt::Small<F> first, simt::Small<F> second) { \
    const float a = first, b = second;                                           \
    return simt::Small<F>(value);                                                \
  }
#define SIMT_PAIR_FUNCTION(name, of_each)                                                         \
  template <class F>                                                                              \
  SIMT_INLINE simt::Pair<F> name(simt::Pair<F> a, simt::Pair<F> b) {                              \
    return simt::each_of(a, b, [](simt::Small<F> x, simt::Small<F> y) { return of_each(x, y); }); \
  }
#define SIMT_BINARY(name, name2, value) \
  SIMT_SMALL_FUNCTION(name, value)      \
  SIMT_PAIR_FUNCTION(name2, name)
SIMT_BINARY(__hadd_rn, __hadd2_rn, a + b)
SIMT_BINARY(__hsub_rn, __hsub2_rn, a - b)
SIMT_BINARY(__hmul_rn, __hmul2_rn, a* b)
SIMT_BINARY(__hadd_sat, __hadd2_sat, simt::saturated(a + b))
SIMT_BINARY(__hsub_sat, __hsub2_sat, simt::saturated(a - b))
SIMT_BINARY(__hmul_sat, __hmul2_sat, simt::saturated(a* b))
SIMT_BINARY(__hmax_nan, __hmax2_nan, simt::nan_or(a, b, fmaxf(a, b)))
SIMT_BINARY(__hmin_nan, __hmin2_nan, simt::nan_or(a, b, fminf(a, b)))
#undef SIMT_BINARY
#undef SIMT_SMALL_FUNCTION
#undef SIMT_PAIR_FUNCTION
#define SIMT_TERNARY(name, name2, clamp)                                                  \
  template <class F>                                                                      \
  SIMT_INLINE simt::Small<F> name(simt::Small<F> a, simt::Small<F> b, simt::Small<F> c) { \
    return simt::Small<F>(clamp(fmaf(a, b, c)));                                          \
  }                                                                                       \
  template <class F>                                                                      \
  SIMT_INLINE simt::Pair<F> name2(simt::Pair<F> a, simt::Pair<F> b, simt::Pair<F> c) {    \
    return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)};                                    \
  }
SIMT_TERNARY(__hfma_sat, __hfma2_sat, simt::saturated)
SIMT_TERNARY(__hfma_relu, __hfma2_relu, simt::without_negatives)
#undef SIMT_TERNARY
// Of complex numbers.
template <class F>
SIMT_INLINE simt::Pair<F> __hcmadd(simt::Pair<F> a, simt::Pair<F> b, simt::Pair<F> c) {
  return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}

// ---- comparisons: a NaN makes ordered ones false, and those with a "u" true
#define SIMT_PAIR_COMPARE(name, number)                                           \
  template <class F>                                                              \
  SIMT_INLINE simt::Pair<F> name##number(simt::Pair<F> a, simt::Pair<F> b) {      \
    return {simt::Small<F>(name(a.x, b.x)), simt::Small<F>(name(a.y, b.y))};      \
  }                                                                               \
  template <class F>                                                              \
  SIMT_INLINE unsigned name##number##_mask(simt::Pair<F> a, simt::Pair<F> b) {    \
    return (name(a.x, b.x) ? 0xffffu : 0u) | (name(a.y, b.y) ? 0xffff0000u : 0u); \
  }
#define SIMT_COMPARE(word, op)                                                               \
  template <class F>                                                                         \
  SIMT_INLINE bool __h##word(simt::Small<F> a, simt::Small<F> b) {                           \
    const float x = a, y = b;                                                                \
    return x == x && y == y && x op y;                                                       \
  }                                                                                          \
  template <class F>                                                                         \
  SIMT_INLINE bool __h##word##u(simt::Small<F> a, simt::Small<F> b) {                        \
    const float x = a, y = b;                                                                \
    return x != x || y != y || x op y;                                                       \
  }                                                                                          \
  SIMT_PAIR_COMPARE(__h##word, 2)                                                            \
  template <class F>                                                                         \
  SIMT_INLINE simt::Pair<F> __h##word##u2(simt::Pair<F> a, simt::Pair<F> b) {                \
    return {simt::Small<F>(__h##word##u(a.x, b.x)), simt::Small<F>(__h##word##u(a.y, b.y))}; \
  }                                                                                          \
  template <class F>                                                                         \
  SIMT_INLINE bool __hb##word##2(simt::Pair<F> a, simt::Pair<F> b) {                         \
    return __h##word(a.x, b.x) && __h##word(a.y, b.y);                                       \
  }                                                                                          \
  template <class F>                                                                         \
  SIMT_INLINE bool __hb##word##u2(simt::Pair<F> a, simt::Pair<F> b) {                        \
    return __h##word##u(a.x, b.x) && __h##word##u(a.y, b.y);                                 \
  }
SIMT_COMPARE(eq, ==)
SIMT_COMPARE(ne, !=)
SIMT_COMPARE(lt, <)
SIMT_COMPARE(le, <=)
SIMT_COMPARE(gt, >)
SIMT_COMPARE(ge, >=)
#undef SIMT_COMPARE
#undef SIMT_PAIR_COMPARE
template <class F>
SIMT_INLINE bool operator==(simt::Pair<F> a, simt::Pair<F> b) {
  return __hbeq2(a, b);
}
template <class F>
SIMT_INLINE bool operator!=(simt::Pair<F> a, simt::Pair<F> b) {
  return __hbneu2(a, b);
}
template <class F>
SIMT_INLINE bool __hisnan(simt::Small<F> a) {
  return (a.word & 0x7fff) > simt::Small<F>(std::numeric_limits<float>::infinity()).word;
}
template <class F>
SIMT_INLINE int __hisinf(simt::Small<F> a) {
  const float x = a;
  return std::isinf(x) ? (x > 0 ? 1 : -1) : 0;
}
template <class F>
SIMT_INLINE simt::Pair<F> __hisnan2(simt::Pair<F> a) {
  return {simt::Small<F>(__hisnan(a.x)), simt::Small<F>(__hisnan(a.y))};
}

// ---- mathematics
#define SIMT_UNARY(name, name2, value)                                 \
  template <class F>                                                   \
  SIMT_INLINE simt::Small<F> name(simt::Small<F> small) {              \
    const float a = small;                                             \
    return simt::Small<F>(value);                                      \
  }                                                                    \
  template <class F>                                                   \
  SIMT_INLINE simt::Pair<F> name2(simt::Pair<F> a) {                   \
    return simt::each_of(a, [](simt::Small<F> x) { return name(x); }); \
  }
SIMT_UNARY(__hneg, __hneg2, -a)
SIMT_UNARY(__habs, __habs2, fabsf(a))
SIMT_UNARY(hexp, h2exp, expf(a))
SIMT_UNARY(hexp2, h2exp2, exp2f(a))
SIMT_UNARY(hexp10, h2exp10, powf(10.0f, a))
SIMT_UNARY(hlog, h2log, logf(a))
SIMT_UNARY(hlog2, h2log2, log2f(a))
SIMT_UNARY(hlog10, h2log10, log10f(a))
SIMT_UNARY(hsqrt, h2sqrt, sqrtf(a))
SIMT_UNARY(hrsqrt, h2rsqrt, 1.0f / sqrtf(a))
SIMT_UNARY(hrcp, h2rcp, 1.0f / a)
SIMT_UNARY(hsin, h2sin, sinf(a))
SIMT_UNARY(hcos, h2cos, cosf(a))
SIMT_UNARY(htanh, h2tanh, tanhf(a))
SIMT_UNARY(htanh_approx, h2tanh_approx, tanhf(a))
SIMT_UNARY(hfloor, h2floor, floorf(a))
SIMT_UNARY(hceil, h2ceil, ceilf(a))
SIMT_UNARY(hrint, h2rint, rintf(a))
SIMT_UNARY(htrunc, h2trunc, truncf(a))
#undef SIMT_UNARY
