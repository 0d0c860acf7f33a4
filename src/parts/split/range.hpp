#pragma once
// How far apart the elements of a line lie, and the power of two by which the split pass scales it.

#include "parts/float_pairs.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// The largest magnitude of some elements, and the least nonzero one, as FP32 bits.
struct Range {
  unsigned largest = 0, least_negated = 0;  // negated, so that zeros do not count as least
  template <class Pairs>
  __device__ __forceinline__ void add_element(float x) {
    const unsigned bits = magnitude_bits(x);
    largest = max(largest, bits);
    if (Pairs::kNeedsLeast) least_negated = max(least_negated, 0u - bits);
  }
  __device__ __forceinline__ void add(const Range& r) {
    largest = max(largest, r.largest);
    least_negated = max(least_negated, r.least_negated);
  }
  __device__ __forceinline__ unsigned least() const { return 0u - least_negated; }
  template <class Pairs>
  __device__ __forceinline__ Range of_lane(int lane) const {
    return {__shfl_sync(0xffffffffu, largest, lane),
            Pairs::kNeedsLeast ? __shfl_sync(0xffffffffu, least_negated, lane) : 0};
  }
  // Adds the range of the lane whose number differs in the bits of `distance`.
  template <class Pairs>
  __device__ __forceinline__ void add_of_lane(int distance) {
    largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
    if (!Pairs::kNeedsLeast) return;
    least_negated = max(least_negated, __shfl_xor_sync(0xffffffffu, least_negated, distance));
  }
  // Adds the ranges of all lanes.
  template <class Pairs>
  __device__ __forceinline__ void add_of_warp() {
    largest = warp::greatest(largest);
    if (Pairs::kNeedsLeast) least_negated = warp::greatest(least_negated);
  }
};

// Whether FP16 pairs may hold a line with this largest element. Beyond these exponents the factors
// of two lines could overflow although the result does not.
__device__ __forceinline__ bool in_reach_of_halves(unsigned largest) {
  const int exponent = exponent_of(largest);
  return exponent >= -78 && exponent <= 78;
}

// The largest element of a line, raised to the next power of two where FP16 rounds it there.
__device__ __forceinline__ unsigned largest_in_halves(unsigned largest) {
  return largest + 0x1000u;
}

// The exponent of a line's scale, by kind of pairs.
// HalfPairs: brings the largest element between 2^15 and 2^16, so that FP16 just holds it; 0 if the
// line is out of reach.
__device__ __forceinline__ int scale_exponent(HalfPairs, const Range& range) {
  return in_reach_of_halves(range.largest) ? 15 - exponent_of(largest_in_halves(range.largest)) : 0;
}
// Tf32Pairs: brings a largest element below 2^-60 up to 2^-32, so that no element meets TF32's
// least exponent. Brings one above 2^48 down to 2^48, so that neither sums nor sums times one
// factor overflow unless the result does.
__device__ __forceinline__ int scale_exponent(Tf32Pairs, const Range& range) {
  const int exponent = exponent_of(range.largest);
  constexpr int kLow = -60, kFromLow = -32, kHigh = 48, kLeast = -127;  // kLeast: of subnormals
  if (range.largest == 0 || range.largest >= 0x7f800000u) return 0;
  if (exponent > kHigh) return kHigh - exponent;
  return exponent >= kLow ? 0 : kFromLow - max(exponent, kLeast);
}
__device__ __forceinline__ int scale_exponent(Tf32Once, const Range&) { return 0; }

// What a line's pairs are to be multiplied by. NaN: TF32 pairs cannot represent the line. An
// element is not finite, or so small beside the largest that its lo falls below TF32's range.
__device__ __forceinline__ float factor_of(HalfPairs, const Range&, int exponent) {
  return power_of_two(-exponent);
}
__device__ __forceinline__ float factor_of(Tf32Pairs, const Range& range, int exponent) {
  constexpr int kLeastExponent = -113;  // 23 above that of TF32's least subnormal
  const float least = __uint_as_float(range.least()) * power_of_two(exponent);
  const bool representable =
      range.largest < 0x7f800000u && (range.largest == 0 || least >= power_of_two(kLeastExponent));
  return representable ? power_of_two(-exponent) : __uint_as_float(0x7fc00000u);
}
__device__ __forceinline__ float factor_of(Tf32Once, const Range&, int) { return 1.0f; }

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
