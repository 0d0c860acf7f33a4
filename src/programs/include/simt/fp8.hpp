#pragma once
// Eight-bit floats: one byte in memory, computed in float. Conversions to them saturate.

#include <cmath>

#include "simt/half_functions.hpp"

namespace simt {
template <int mantissa, int bias, int largest, bool has_infinity>
struct TinyFormat {
  static SIMT_INLINE float decode(unsigned char byte) {
    constexpr int kExponents = (1 << (7 - mantissa)) - 1;
    const int exponent = byte >> mantissa & kExponents, low = byte & ((1 << mantissa) - 1);
    const float sign = byte & 0x80 ? -1.0f : 1.0f;
    if (has_infinity ? exponent == kExponents : (byte & 0x7f) == 0x7f) {
      return has_infinity && low == 0 ? sign * __builtin_inff() : __builtin_nanf("");
    }
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(low), 1 - bias - mantissa);
    return sign * std::ldexp(static_cast<float>(low + (1 << mantissa)), exponent - bias - mantissa);
  }
  // Rounds to nearest even.
  static inline unsigned char encode(float value) {
    if (value != value) return 0x7f;
    const int sign = std::signbit(value) ? 0x80 : 0;
    const float size = std::fmin(std::fabs(value), static_cast<float>(largest));
    int exponent = 0;
    std::frexp(size, &exponent);
    exponent = std::max(exponent - 1, 1 - bias);
    int count = static_cast<int>(std::nearbyint(std::ldexp(size, mantissa - exponent)));
    if (count == 2 << mantissa) {
      count >>= 1;
      ++exponent;
    }
    const int stored = count < 1 << mantissa ? count : ((exponent + bias - 1) << mantissa) + count;
    return static_cast<unsigned char>(sign | stored);
  }
};

template <class Format>
struct Tiny {
  unsigned char __x;
  Tiny() = default;
  template <class T, class = decltype(static_cast<float>(std::declval<T>()))>
  SIMT_INLINE explicit Tiny(T value) : __x(Format::encode(static_cast<float>(value))) {}
  SIMT_INLINE operator float() const { return Format::decode(__x); }
};
}  // namespace simt

typedef unsigned char __nv_fp8_storage_t;
typedef simt::Tiny<simt::TinyFormat<3, 7, 448, false>> __nv_fp8_e4m3;
typedef simt::Tiny<simt::TinyFormat<2, 15, 57344, true>> __nv_fp8_e5m2;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t,
                                                     __nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? __nv_fp8_e4m3(value).__x : __nv_fp8_e5m2(value).__x;
}
SIMT_INLINE __half __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t byte,
                                           __nv_fp8_interpretation_t kind) {
  return __half(kind == __NV_E4M3 ? static_cast<float>(simt::bits<__nv_fp8_e4m3>(byte))
                                  : static_cast<float>(simt::bits<__nv_fp8_e5m2>(byte)));
}
