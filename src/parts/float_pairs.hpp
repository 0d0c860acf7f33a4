#pragma once
// Float pairs: an FP32 number as the sum of two numbers that the tensor cores multiply, x = hi +
// lo. hi is the nearest number with 11 significant bits, lo the nearest to the rest. A product of
// two pairs takes three products, hi·hi + hi·lo + lo·hi. lo·lo lies below FP32's last bit.
//
// Pairs lie along k in groups of 128 bytes, first all hi, then all lo. One box of the copy engine
// loads both. lo lies 64 bytes behind hi.

#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

#include "parts/ptx/wgmma.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Rounds to the nearest FP16 numbers and packs both into a word. Ties go to even; from 65,520 on
// the result is infinite. half_value() converts a word's lower half back.
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

// The nearest TF32 number: 11 significant bits, FP32's exponents. Ties go away from zero.
__device__ __forceinline__ float tf32_value(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

// 2^exponent. The exponent is from -126 to 127.
__device__ __forceinline__ float power_of_two(int exponent) {
  return __uint_as_float(static_cast<unsigned>(exponent + 127) << 23);
}
// The exponent e of x, 2^e <= |x| < 2^(e+1), from the bits of |x|. x is finite and normal.
__device__ __forceinline__ int exponent_of(unsigned magnitude_bits) {
  return static_cast<int>(magnitude_bits >> 23) - 127;
}
__device__ __forceinline__ unsigned magnitude_bits(float x) {
  return __float_as_uint(x) & 0x7fffffffu;
}

// Each eight holds neighbours along k.
struct EightsInOrder {
  __device__ __forceinline__ static constexpr int element(int eight, int i) {
    return eight * 8 + i;
  }
};

// Where the eight elements from k on begin in a line of groups. A group has kDepth elements of
// kBytes each; k is a multiple of 8. Unsigned division needs no rounding correction.
template <int kDepth, int kBytes>
__device__ __forceinline__ unsigned char* place_in_line(unsigned char* line, std::int64_t k) {
  const auto u = static_cast<std::uint64_t>(k);
  return line + u / kDepth * 128 + u % kDepth * kBytes;
}

// A kind of pairs says how eight elements are written into a line's groups. It also says how a
// group of A and a group of B are multiplied. Element i of eight e is element(e, i) along k.
//
// FP16 pairs: the tensor cores' fastest numbers, and the narrowest. Exponents range from -14 to 15,
// with subnormals down to -24, so each line needs a scale.
struct HalfPairs : EightsInOrder {
  static constexpr int kDepth = 32;  // elements of a group
  static constexpr int kBytes = 4;   // of a pair
  static constexpr bool kNeedsLeast = false, kCounted = true;
  // Groups that the tensor cores add up, with truncation, before FP32 additions do. kTiles: tiles
  // of 64 rows per warpgroup. Of positive numbers one group loses 0.9·10^-7, two lose 1.9·10^-7.
  template <int kTiles>
  static constexpr int kPromoted = 1;

  // Writes the eight elements from k on. Returns their hi in `hi`, and adds their magnitudes: the
  // pass counts what FP16 loses.
  __device__ WARPLADDER_INLINE_ON_GPU static void write8(unsigned char* line, std::int64_t k,
                                                         const float (&x)[8], unsigned (&hi)[4],
                                                         float& magnitude) {
    unsigned lo[4];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) magnitude += fabsf(x[i]);
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

// FP16 pairs for values that are promised to be moderate. Not counting the loss saves 1 to 6 % of
// the time.
struct UncountedHalfPairs : HalfPairs {
  static constexpr bool kCounted = false;
  template <int kTiles>
  static constexpr int kPromoted = 2;
};

// hi alone, without lo: the nearest halves of a line's scaled elements, at the tensor cores' full
// rate. A group has 64 of them.
struct HalfOnce : UncountedHalfPairs {
  static constexpr int kDepth = 64;
  static constexpr int kBytes = 2;

  __device__ WARPLADDER_INLINE_ON_GPU static void write8(unsigned char* line, std::int64_t k,
                                                         const float (&x)[8], unsigned (&)[4],
                                                         float&) {
    *reinterpret_cast<uint4*>(place_in_line<kDepth, 2>(line, k)) =
        make_uint4(two_halves(x[0], x[1]), two_halves(x[2], x[3]), two_halves(x[4], x[5]),
                   two_halves(x[6], x[7]));
  }
};

struct Tf32Products {
  template <int count>
  __device__ __forceinline__ static void multiply(float (&sums)[count], ptx::TileDescriptor a,
                                                  ptx::TileDescriptor b, bool add) {
    ptx::multiply_tf32(sums, a, b, add);
  }
};

// TF32 pairs: FP32's range at half the rate and twice the bytes. A number that rounding up would
// make infinite is truncated instead. lo is zero for infinities and NaN.
struct Tf32Pairs : Tf32Products {
  static constexpr int kDepth = 16;
  static constexpr int kBytes = 8;
  static constexpr bool kNeedsLeast = true, kCounted = false;
  template <int kTiles>
  static constexpr int kPromoted = kTiles == 1 ? 1 : 2;

  // The fours of two eights alternate, so that two neighbouring lanes write 32 neighbouring bytes.
  __device__ __forceinline__ static constexpr int element(int eight, int i) {
    return eight / 2 * 16 + eight % 2 * 4 + i / 4 * 8 + i % 4;
  }
  __device__ __forceinline__ static float hi_of(float x) {
    const float nearest = tf32_value(x);
    return magnitude_bits(nearest) < 0x7f800000u
               ? nearest
               : __uint_as_float(__float_as_uint(x) & 0xffffe000u);
  }
  __device__ WARPLADDER_INLINE_ON_GPU static void write8(unsigned char* line, std::int64_t k,
                                                         const float (&x)[8], unsigned (&)[4],
                                                         float&) {
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

// hi alone, without lo: FP32's range with 11 significant bits, at TF32's rate. A group has 32 of
// them.
struct Tf32Once : Tf32Products, EightsInOrder {
  static constexpr int kDepth = 32;
  static constexpr int kBytes = 4;
  static constexpr bool kNeedsLeast = false, kCounted = false;

  __device__ WARPLADDER_INLINE_ON_GPU static void write8(unsigned char* line, std::int64_t k,
                                                         const float (&x)[8], unsigned (&)[4],
                                                         float&) {
    float hi[8];
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 8; ++i) hi[i] = Tf32Pairs::hi_of(x[i]);
    auto* const group = reinterpret_cast<float4*>(place_in_line<kDepth, 4>(line, k));
    group[0] = make_float4(hi[0], hi[1], hi[2], hi[3]);
    group[1] = make_float4(hi[4], hi[5], hi[6], hi[7]);
  }
};

// multiply_small() multiplies hi·lo and lo·hi of a group of A and a group of B; multiply_large()
// then adds hi·hi. The adder truncates relative to its sum, so the small products come first.
// `add`: add to the sums instead of overwriting them. kBytes = 32: only the first half of the group
// along k.
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

// All four products, lo·lo included, of 32 bytes along k of a group. The sums begin at zero.
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
