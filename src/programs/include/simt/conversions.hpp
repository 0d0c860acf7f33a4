#pragma once
// Conversions between integers and floating point, by the rounding that the name says: rn to
// nearest even, rz to zero, rd down, ru up.

#include <cmath>
#include <limits>

#include "simt/language.hpp"

namespace simt {
// As cvt.*.s32.f32 and its like: what does not fit becomes the nearest number that does. A NaN
// becomes 0 if neither side has 64 bits, else the sign bit alone.
template <class To, class From>
SIMT_INLINE To to_integer(From whole) {
  constexpr To kLeast = std::numeric_limits<To>::min(), kMost = std::numeric_limits<To>::max();
  // The first number above kMost, a power of two.
  constexpr From kEnd = static_cast<From>(kMost / 2 + 1) * 2;
  if (whole >= static_cast<From>(kLeast) && whole < kEnd) return static_cast<To>(whole);
  if (whole != whole) {
    if (sizeof(To) == 4 && sizeof(From) == 4) return 0;
    return static_cast<To>(1ull << (8 * sizeof(To) - 1));
  }
  return whole < 0 ? kLeast : kMost;
}

enum class Rounding { nearest, to_zero, down, up };
// long double holds every integer of 64 bits, and every double.
template <class To, Rounding rounding, class From>
SIMT_INLINE To to_floating(From value) {
  const To near = static_cast<To>(value);
  if constexpr (rounding == Rounding::nearest) return near;
  constexpr To kInfinity = std::numeric_limits<To>::infinity();
  const auto exact = static_cast<long double>(value), got = static_cast<long double>(near);
  const bool down = rounding == Rounding::down || (rounding == Rounding::to_zero && exact > 0);
  if (down && got > exact) return std::nextafter(near, -kInfinity);
  if (!down && got < exact) return std::nextafter(near, kInfinity);
  return near;
}
}  // namespace simt

#define SIMT_CONVERT_TO(name, To, From)                                                    \
  SIMT_INLINE To name##_rn(From a) { return ::simt::to_integer<To, From>(std::rint(a)); }  \
  SIMT_INLINE To name##_rz(From a) { return ::simt::to_integer<To, From>(std::trunc(a)); } \
  SIMT_INLINE To name##_rd(From a) { return ::simt::to_integer<To, From>(std::floor(a)); } \
  SIMT_INLINE To name##_ru(From a) { return ::simt::to_integer<To, From>(std::ceil(a)); }
SIMT_CONVERT_TO(__float2int, int, float)
SIMT_CONVERT_TO(__float2uint, unsigned, float)
SIMT_CONVERT_TO(__float2ll, long long, float)
SIMT_CONVERT_TO(__float2ull, unsigned long long, float)
SIMT_CONVERT_TO(__double2int, int, double)
SIMT_CONVERT_TO(__double2uint, unsigned, double)
SIMT_CONVERT_TO(__double2ll, long long, double)
SIMT_CONVERT_TO(__double2ull, unsigned long long, double)
#undef SIMT_CONVERT_TO
#define SIMT_CONVERT_FROM(name, To, From)                                                         \
  SIMT_INLINE To name##_rn(From a) {                                                              \
    return ::simt::to_floating<To, ::simt::Rounding::nearest>(a);                                 \
  }                                                                                               \
  SIMT_INLINE To name##_rz(From a) {                                                              \
    return ::simt::to_floating<To, ::simt::Rounding::to_zero>(a);                                 \
  }                                                                                               \
  SIMT_INLINE To name##_rd(From a) { return ::simt::to_floating<To, ::simt::Rounding::down>(a); } \
  SIMT_INLINE To name##_ru(From a) { return ::simt::to_floating<To, ::simt::Rounding::up>(a); }
SIMT_CONVERT_FROM(__int2float, float, int)
SIMT_CONVERT_FROM(__uint2float, float, unsigned)
SIMT_CONVERT_FROM(__ll2float, float, long long)
SIMT_CONVERT_FROM(__ull2float, float, unsigned long long)
SIMT_CONVERT_FROM(__int2double, double, int)
SIMT_CONVERT_FROM(__uint2double, double, unsigned)
SIMT_CONVERT_FROM(__ll2double, double, long long)
SIMT_CONVERT_FROM(__ull2double, double, unsigned long long)
SIMT_CONVERT_FROM(__double2float, float, double)
#undef SIMT_CONVERT_FROM
