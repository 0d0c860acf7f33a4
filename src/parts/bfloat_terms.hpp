#pragma once
// An FP32 number as the sum of three bfloat16, its terms: the nearest bfloat16, the nearest to the
// rest, and what is left then. Three times 8 significant bits hold all 24, in FP32's range, without
// a scale. Of a product of two such sums six products of terms count; the other three lie below
// FP32's last bit.
//
// What lies below bfloat16's smallest subnormal, 2^-133, is lost: of numbers under 2^-109. An
// infinity, a NaN, and a number that rounds to infinity make a NaN of the product.

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#endif

#include "parts/ptx/wgmma_words.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kTerms = 3;
// What a term that was cut off may have lost.
constexpr float kLostByTerms = 0x1p-133f;

// Rounds to the nearest bfloat16, ties to even, and packs both into a word.
__device__ __forceinline__ unsigned two_bfloats(float low, float high) {
#if defined(__CUDACC__)
  const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&both);
#else
  const auto bits = [](float x) {
    const unsigned all = __float_as_uint(x);
    const bool nan = (all & 0x7fffffffu) > 0x7f800000u;
    return nan ? 0x7fffu : (all + 0x7fffu + (all >> 16 & 1)) >> 16;
  };
  return bits(low) | bits(high) << 16;
#endif
}
// The upper halves of both, which are bfloat16.
__device__ __forceinline__ unsigned two_upper_halves(float low, float high) {
#if defined(__CUDACC__)
  return __byte_perm(__float_as_uint(low), __float_as_uint(high), 0x7632);
#else
  return __float_as_uint(low) >> 16 | (__float_as_uint(high) & 0xffff0000u);
#endif
}

// The terms of two neighbours, a word for each pair. The lower half of `lost` receives what the
// last term cannot hold, as bits.
__device__ WARPLADDER_INLINE_ON_GPU void split_two(float low, float high, unsigned& first,
                                                   unsigned& second, unsigned& third,
                                                   unsigned& lost) {
  first = two_bfloats(low, high);
  low -= __uint_as_float(first << 16);
  high -= __uint_as_float(first & 0xffff0000u);
  second = two_bfloats(low, high);
  low -= __uint_as_float(second << 16);
  high -= __uint_as_float(second & 0xffff0000u);
  third = two_upper_halves(low, high);
  lost |= __float_as_uint(low) | __float_as_uint(high);
}
__device__ __forceinline__ bool has_lost(unsigned lost) { return (lost & 0xffffu) != 0; }

// Lines of 16 elements along k: 128 bytes in the 128-byte swizzle, 32 for each term and 32 unused.
// The tensor cores may take the elements along k in any order that is the same for A and B. Here
// element 4·t + j is their number 2·t + j%2 + 8·(j/2), so that a thread's four of a line are
// neighbours. Element `half`·2 + 4·t + i of a line is number half·8 + 2·t + i.
constexpr int kTermLine = 128, kTermDepth = 16;

// Of a thread's terms of A, from registers, and a tile of B: the five smaller products, or + if
// `add`. The adder truncates relative to its sum, so that of the first terms, 2^8 times as large,
// is kept apart. B's terms lie `apart` bytes behind each other.
template <int count>
__device__ __forceinline__ void multiply_other_terms(float (&sums)[count],
                                                     const unsigned (&a)[kTerms][4],
                                                     ptx::TileDescriptor b, bool add,
                                                     int apart = 32) {
  ptx::multiply_bf16(sums, a[2], b, add);
  ptx::multiply_bf16(sums, a[0], ptx::behind(b, 2 * apart), true);
  ptx::multiply_bf16(sums, a[1], ptx::behind(b, apart), true);
  ptx::multiply_bf16(sums, a[1], b, true);
  ptx::multiply_bf16(sums, a[0], ptx::behind(b, apart), true);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
