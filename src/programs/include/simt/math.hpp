#pragma once
// Device functions of arithmetic and bits. Directed roundings are rounded to nearest.

#include <math.h>

#include <cmath>

#include "simt/conversions.hpp"
#include "simt/language.hpp"

// ---- cache hints mean nothing here
#define SIMT_LOAD(name)            \
  template <class T>               \
  SIMT_INLINE T name(const T* p) { \
    return *p;                     \
  }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldlu)
SIMT_LOAD(__ldcv)
#undef SIMT_LOAD
#define SIMT_STORE(name)                 \
  template <class T, class U>            \
  SIMT_INLINE void name(T* p, U value) { \
    *p = static_cast<T>(value);          \
  }
SIMT_STORE(__stcs)
SIMT_STORE(__stcg)
SIMT_STORE(__stwb)
SIMT_STORE(__stwt)
#undef SIMT_STORE

#define SIMT_F1(name, value) \
  SIMT_INLINE float name(float a) { return value; }
#define SIMT_D1(name, value) \
  SIMT_INLINE double name(double a) { return value; }
SIMT_F1(rsqrtf, 1.0f / sqrtf(a))
SIMT_F1(__frsqrt_rn, 1.0f / sqrtf(a))
SIMT_F1(__expf, expf(a))
SIMT_F1(__exp10f, powf(10.0f, a))
SIMT_F1(__logf, logf(a))
SIMT_F1(__log2f, log2f(a))
SIMT_F1(__log10f, log10f(a))
SIMT_F1(__sinf, sinf(a))
SIMT_F1(__cosf, cosf(a))
SIMT_F1(__tanf, tanf(a))
SIMT_F1(__saturatef, a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f)
SIMT_F1(rcbrtf, 1.0f / cbrtf(a))
SIMT_F1(sinpif, static_cast<float>(sin(a* M_PI)))
SIMT_F1(cospif, static_cast<float>(cos(a* M_PI)))
SIMT_F1(normcdff, 0.5f * erfcf(-a * static_cast<float>(M_SQRT1_2)))
SIMT_F1(erfcxf, expf(a* a) * erfcf(a))
SIMT_F1(rsqrt, 1.0f / sqrtf(a))
SIMT_D1(rsqrt, 1.0 / sqrt(a))
SIMT_D1(rcbrt, 1.0 / cbrt(a))
SIMT_D1(sinpi, sin(a* M_PI))
SIMT_D1(cospi, cos(a* M_PI))
SIMT_D1(normcdf, 0.5 * erfc(-a * M_SQRT1_2))
SIMT_D1(erfcx, exp(a* a) * erfc(a))
SIMT_INLINE float __powf(float a, float b) { return powf(a, b); }
SIMT_INLINE float __fdividef(float a, float b) { return a / b; }
SIMT_INLINE float fdividef(float a, float b) { return a / b; }
SIMT_INLINE void __sincosf(float a, float* s, float* c) { *s = sinf(a), *c = cosf(a); }
SIMT_INLINE void sincospif(float a, float* s, float* c) { *s = sinpif(a), *c = cospif(a); }
SIMT_INLINE void sincospi(double a, double* s, double* c) { *s = sinpi(a), *c = cospi(a); }
SIMT_INLINE float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
SIMT_INLINE float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
SIMT_INLINE float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
// Newton's method; the derivative of normcdf is the normal density.
inline double normcdfinv(double p) {
  double x = 0;
  for (int i = 0; i < 60; ++i) {
    const double step = (normcdf(x) - p) * 2.5066282746310002 * exp(x * x / 2);
    x -= step > 1 ? 1 : step < -1 ? -1 : step;
  }
  return x;
}
inline float normcdfinvf(float p) { return static_cast<float>(normcdfinv(p)); }

// Never fused with what is around them, hence volatile.
#define SIMT_OPERATION(name, type, op)    \
  SIMT_INLINE type name(type a, type b) { \
    volatile type result = a op b;        \
    return result;                        \
  }
#define SIMT_ROUNDED(round)                                                               \
  SIMT_OPERATION(__fadd_##round, float, +)                                                \
  SIMT_OPERATION(__fsub_##round, float, -)                                                \
  SIMT_OPERATION(__fmul_##round, float, *)                                                \
  SIMT_OPERATION(__fdiv_##round, float, /)                                                \
  SIMT_OPERATION(__dadd_##round, double, +)                                               \
  SIMT_OPERATION(__dsub_##round, double, -)                                               \
  SIMT_OPERATION(__dmul_##round, double, *)                                               \
  SIMT_OPERATION(__ddiv_##round, double, /)                                               \
  SIMT_INLINE float __fmaf_##round(float a, float b, float c) { return fmaf(a, b, c); }   \
  SIMT_INLINE double __fma_##round(double a, double b, double c) { return fma(a, b, c); } \
  SIMT_F1(__fsqrt_##round, sqrtf(a))                                                      \
  SIMT_F1(__frcp_##round, 1.0f / a)                                                       \
  SIMT_D1(__dsqrt_##round, sqrt(a))                                                       \
  SIMT_D1(__drcp_##round, 1.0 / a)
SIMT_ROUNDED(rn)
SIMT_ROUNDED(rz)
SIMT_ROUNDED(rd)
SIMT_ROUNDED(ru)
#undef SIMT_ROUNDED
#undef SIMT_OPERATION
#undef SIMT_F1
#undef SIMT_D1

#define SIMT_MIN_MAX(A, B, Result)                                                   \
  SIMT_INLINE constexpr Result min(A a, B b) {                                       \
    return static_cast<Result>(b) < static_cast<Result>(a) ? static_cast<Result>(b)  \
                                                           : static_cast<Result>(a); \
  }                                                                                  \
  SIMT_INLINE constexpr Result max(A a, B b) {                                       \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(b)  \
                                                           : static_cast<Result>(a); \
  }
SIMT_MIN_MAX(int, int, int)
SIMT_MIN_MAX(unsigned, unsigned, unsigned)
SIMT_MIN_MAX(int, unsigned, unsigned)
SIMT_MIN_MAX(unsigned, int, unsigned)
SIMT_MIN_MAX(long, long, long)
SIMT_MIN_MAX(unsigned long, unsigned long, unsigned long)
SIMT_MIN_MAX(long, unsigned long, unsigned long)
SIMT_MIN_MAX(unsigned long, long, unsigned long)
SIMT_MIN_MAX(long long, long long, long long)
SIMT_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
SIMT_MIN_MAX(long long, unsigned long long, unsigned long long)
SIMT_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef SIMT_MIN_MAX
SIMT_INLINE float min(float a, float b) { return fminf(a, b); }
SIMT_INLINE float max(float a, float b) { return fmaxf(a, b); }
SIMT_INLINE double min(double a, double b) { return fmin(a, b); }
SIMT_INLINE double max(double a, double b) { return fmax(a, b); }
SIMT_INLINE double min(float a, double b) { return fmin(a, b); }
SIMT_INLINE double max(float a, double b) { return fmax(a, b); }
SIMT_INLINE double min(double a, float b) { return fmin(a, b); }
SIMT_INLINE double max(double a, float b) { return fmax(a, b); }
SIMT_INLINE unsigned umin(unsigned a, unsigned b) { return min(a, b); }
SIMT_INLINE unsigned umax(unsigned a, unsigned b) { return max(a, b); }

// ---- integers and bits
SIMT_INLINE int __popc(unsigned a) { return __builtin_popcount(a); }
SIMT_INLINE int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
SIMT_INLINE int __clz(int a) { return a ? __builtin_clz(static_cast<unsigned>(a)) : 32; }
SIMT_INLINE int __clzll(long long a) {
  return a ? __builtin_clzll(static_cast<unsigned long long>(a)) : 64;
}
SIMT_INLINE int __ffs(int a) { return __builtin_ffs(a); }
SIMT_INLINE int __ffsll(long long a) { return __builtin_ffsll(a); }
SIMT_INLINE unsigned __brev(unsigned a) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (a >> i & 1u) << (31 - i);
  return reversed;
}
SIMT_INLINE unsigned long long __brevll(unsigned long long a) {
  const unsigned long long low = __brev(static_cast<unsigned>(a));
  return low << 32 | __brev(static_cast<unsigned>(a >> 32));
}
SIMT_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const auto byte = static_cast<unsigned>(both >> 8 * (selector >> 4 * i & 7) & 0xff);
    result |= byte << 8 * i;
  }
  return result;
}
SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
SIMT_INLINE int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<std::int64_t>(a) * b >> 32);
}
SIMT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
SIMT_INLINE int __mul24(int a, int b) {
  const auto low = [](int v) { return static_cast<int>(static_cast<unsigned>(v) << 8) >> 8; };
  return low(a) * low(b);
}
SIMT_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
SIMT_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  shift &= 31;
  return shift ? high << shift | low >> (32 - shift) : high;
}
SIMT_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  shift &= 31;
  return shift ? low >> shift | high << (32 - shift) : low;
}
SIMT_INLINE unsigned __sad(int a, int b, unsigned c) {
  return static_cast<unsigned>(a < b ? b - a : a - b) + c;
}
SIMT_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return (a < b ? b - a : a - b) + c;
}
SIMT_INLINE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) {
    c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  }
  return c;
}
SIMT_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
  return c;
}
SIMT_INLINE unsigned __vabsdiffu4(unsigned a, unsigned b) {
  unsigned result = 0;
  for (int i = 0; i < 32; i += 8) {
    const unsigned x = a >> i & 0xff, y = b >> i & 0xff;
    result |= (x < y ? y - x : x - y) << i;
  }
  return result;
}

namespace simt {
SIMT_INLINE unsigned sum_of_bytes(unsigned a) {
  return (a & 0xff) + (a >> 8 & 0xff) + (a >> 16 & 0xff) + (a >> 24);
}
}  // namespace simt

#define SIMT_BITS(name, To, From) \
  SIMT_INLINE To name(From a) { return simt::bits<To>(a); }
SIMT_BITS(__float_as_int, int, float)
SIMT_BITS(__float_as_uint, unsigned, float)
SIMT_BITS(__int_as_float, float, int)
SIMT_BITS(__uint_as_float, float, unsigned)
SIMT_BITS(__double_as_longlong, long long, double)
SIMT_BITS(__longlong_as_double, double, long long)
#undef SIMT_BITS
SIMT_INLINE int __double2hiint(double d) {
  return static_cast<int>(simt::bits<std::uint64_t>(d) >> 32);
}
SIMT_INLINE int __double2loint(double d) { return static_cast<int>(simt::bits<std::uint64_t>(d)); }
SIMT_INLINE double __hiloint2double(int high, int low) {
  return simt::bits<double>(static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 |
                            static_cast<unsigned>(low));
}

SIMT_INLINE long long clock64() { return static_cast<long long>(__builtin_ia32_rdtsc()); }
SIMT_INLINE void __nanosleep(unsigned) { program_yield(); }
SIMT_INLINE void __trap() { program_trap(); }
SIMT_INLINE void __brkpt() {}
SIMT_INLINE void __prof_trigger(int) {}
SIMT_INLINE std::size_t __cvta_generic_to_shared(const void* p) { return simt_shared_address(p); }
SIMT_INLINE unsigned __isGlobal(const void* p) {
  return static_cast<unsigned>(program_is_global(p));
}
SIMT_INLINE unsigned __isShared(const void* p) {
  return static_cast<unsigned>(program_is_shared(p));
}
