#pragma once
// An FP32 number as the sum of two that the tensor cores multiply: x = hi + lo, hi the nearest
// number with 11 significant bits and lo the nearest to what is left. A product of two such sums
// takes three products, hi·hi + hi·lo + lo·hi; lo·lo lies below FP32's last bit.
//
// Pairs lie along k in groups of 128 bytes, first all hi, then all lo: one box of the copy engine
// brings both, and 64 bytes lead from the one to the other.

#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

#include "parts/ptx/wgmma.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// The nearest halves (ties to even; infinity from 65,520 on) as one word's bits; and the value of a
// word's lower half.
__device__ __forceinline__ unsigned two_halves(float low, float high) {
#if defined(__CUDACC__)
  const __half2 both = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&both);
#else
  const auto bits = [](float x) {
    return unsigned{std::bit_cast<std::uint16_t>(static_cast<_Float16>(x))};
  };
  return bits(low) | bits(high) << 16;
#endif
}
__device__ __forceinline__ float half_value(unsigned bits) {
#if defined(__CUDACC__)
  return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
#else
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
#endif
}

// The nearest TF32 number (11 significant bits, FP32's exponents), ties away from zero.
__device__ __forceinline__ float tf32_value(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

// 2^exponent, for exponents from -126 to 127.
__device__ __forceinline__ float power_of_two(int exponent) {
  return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23);
}
// The exponent e of a finite, normal x: 2^e <= |x| < 2^(e+1). Takes the bits of |x|.
__device__ __forceinline__ int exponent_of(unsigned magnitude_bits) {
  return static_cast<int>(magnitude_bits >> 23) - 127;
}
__device__ __forceinline__ unsigned magnitude_bits(float x) {
  return __float_as_uint(x) & 0x7fffffffu;
}

// Eights as they lie along k.
struct EightsInOrder {
  __device__ __forceinline__ static constexpr int element(int eight, int i) {
    return eight * 8 + i;
  }
};

// Where the eight of which `k` is a multiple begin in a line's groups of kDepth elements, each of
// so many bytes. Unsigned, for nobody has to round then.
template <int kDepth, int kBytes>
__device__ __forceinline__ unsigned char* place_in_line(unsigned char* line, std::int64_t k) {
  const auto u = static_cast<std::uint64_t>(k);
  return line + u / kDepth * 128 + u % kDepth * kBytes;
}

// How eight elements are written into a line's groups, of which the i-th of the e-th eight is
// element(e, i); and how a 64×N tile of products is made of a group of A and one of B.
//
// FP16 pairs: the tensor cores' fastest numbers, and the narrowest: exponents from -14 (gradually
// to -24) to 15, so that each line wants a scale.
struct HalfPairs : EightsInOrder {
  static constexpr int kDepth = 32;  // elements of a group
  static constexpr int kBytes = 4;   // of a pair
  static constexpr bool kNeedsLeast = false, kCounted = true;
  // Groups whose products the tensor cores add up, each time truncating, before FP32 arithmetic
  // does, where a warpgroup has so many tiles of 64 rows: of positive numbers one group loses
  // 0.9·10^-7, two lose 1.9·10^-7.
  template <int kTiles>
  static constexpr int kPromoted = 1;

  // The eight of which `k` is a multiple. Leaves the halves hi in `hi`, for who wants to count
  // them.
  __device__ __forceinline__ static void write8(unsigned char* line, std::int64_t k,
                                                const float (&x)[8], unsigned (&hi)[4]) {
    unsigned lo[4];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 4; ++i) {
      hi[i] = two_halves(x[2 * i], x[2 * i + 1]);
      lo[i] = two_halves(x[2 * i] - half_value(hi[i]), x[2 * i + 1] - half_value(hi[i] >> 16));
    }
    auto* const group = reinterpret_cast<uint4*>(place_in_line<kDepth, 2>(line, k));
    group[0] = make_uint4(hi[0], hi[1], hi[2], hi[3]);
    group[4] = make_uint4(lo[0], lo[1], lo[2], lo[3]);
  }

  template <int count>
  __device__ __forceinline__ static void multiply(float (&sums)[count], ptx::TileDescriptor a,
                                                  ptx::TileDescriptor b, bool add) {
    ptx::multiply_f16(sums, a, b, add);
  }
};

// The same for who believes values to be moderate, counts nothing, and takes 1 to 6 % less time.
struct UncountedHalfPairs : HalfPairs {
  static constexpr bool kCounted = false;
  template <int kTiles>
  static constexpr int kPromoted = 2;
};

struct Tf32Products {
  template <int count>
  __device__ __forceinline__ static void multiply(float (&sums)[count], ptx::TileDescriptor a,
                                                  ptx::TileDescriptor b, bool add) {
    ptx::multiply_tf32(sums, a, b, add);
  }
};

// TF32 pairs: FP32's range at half the rate and twice the bytes. What rounding up would make
// infinite is cut off instead; lo of what is not finite is zero.
struct Tf32Pairs : Tf32Products {
  static constexpr int kDepth = 16;
  static constexpr int kBytes = 8;
  static constexpr bool kNeedsLeast = true, kCounted = false;
  template <int kTiles>
  static constexpr int kPromoted = kTiles == 1 ? 1 : 2;

  // The fours of two eights take turns, so that two lanes side by side write 32 bytes side by side.
  __device__ __forceinline__ static constexpr int element(int eight, int i) {
    return eight / 2 * 16 + eight % 2 * 4 + i / 4 * 8 + i % 4;
  }
  __device__ __forceinline__ static float hi_of(float x) {
    const float nearest = tf32_value(x);
    return magnitude_bits(nearest) < 0x7f800000u
               ? nearest
               : __uint_as_float(__float_as_uint(x) & 0xffffe000u);
  }
  __device__ __forceinline__ static void write8(unsigned char* line, std::int64_t k,
                                                const float (&x)[8], unsigned (&)[4]) {
    float hi[8], lo[8];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) {
      hi[i] = hi_of(x[i]);
      lo[i] = magnitude_bits(x[i]) < 0x7f800000u ? tf32_value(x[i] - hi[i]) : 0.0f;
    }
    auto* const group = reinterpret_cast<float4*>(place_in_line<kDepth, 2>(line, k));
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 2; ++i) {
      group[2 * i] = make_float4(hi[4 * i], hi[4 * i + 1], hi[4 * i + 2], hi[4 * i + 3]);
      group[2 * i + 4] = make_float4(lo[4 * i], lo[4 * i + 1], lo[4 * i + 2], lo[4 * i + 3]);
    }
  }
};

// No pair, but its first half alone: FP32's range with 11 significant bits, at the rate of TF32. A
// group has 32 of them.
struct Tf32Once : Tf32Products, EightsInOrder {
  static constexpr int kDepth = 32;
  static constexpr int kBytes = 4;
  static constexpr bool kNeedsLeast = false, kCounted = false;

  __device__ __forceinline__ static void write8(unsigned char* line, std::int64_t k,
                                                const float (&x)[8], unsigned (&)[4]) {
    float hi[8];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) hi[i] = Tf32Pairs::hi_of(x[i]);
    auto* const group = reinterpret_cast<float4*>(place_in_line<kDepth, 4>(line, k));
    group[0] = make_float4(hi[0], hi[1], hi[2], hi[3]);
    group[1] = make_float4(hi[4], hi[5], hi[6], hi[7]);
  }
};

// Of a group of A and one of B, or of the half of it that comes first along k (kBytes = 32): the
// products of a hi and a lo, which begin the sums unless `add`; then hi·hi, added to these. The
// adder truncates by the size of its sum, so the small ones come first.
template <class Pairs, int kBytes = 64, int count>
__device__ __forceinline__ void multiply_small(float (&sums)[count], ptx::TileDescriptor a,
                                               ptx::TileDescriptor b, bool add) {
  WARPLADDER_UNROLL_ON_GPU
  for (int step = 0; step < kBytes; step += 32) {
    Pairs::multiply(sums, ptx::behind(a, 64 + step), ptx::behind(b, step), add || step > 0);
    Pairs::multiply(sums, ptx::behind(a, step), ptx::behind(b, 64 + step), true);
  }
}
template <class Pairs, int kBytes = 64, int count>
__device__ __forceinline__ void multiply_large(float (&sums)[count], ptx::TileDescriptor a,
                                               ptx::TileDescriptor b) {
  WARPLADDER_UNROLL_ON_GPU
  for (int step = 0; step < kBytes; step += 32) {
    Pairs::multiply(sums, ptx::behind(a, step), ptx::behind(b, step), true);
  }
}

// All four of 32 bytes along k of a group, from zero: with lo·lo.
template <class Pairs, int count>
__device__ __forceinline__ void multiply_step(float (&sums)[count], ptx::TileDescriptor a,
                                              ptx::TileDescriptor b, int step) {
  Pairs::multiply(sums, ptx::behind(a, 64 + step), ptx::behind(b, 64 + step), false);
  Pairs::multiply(sums, ptx::behind(a, 64 + step), ptx::behind(b, step), true);
  Pairs::multiply(sums, ptx::behind(a, step), ptx::behind(b, 64 + step), true);
  Pairs::multiply(sums, ptx::behind(a, step), ptx::behind(b, step), true);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
