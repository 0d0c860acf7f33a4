#pragma once
// Products of a warpgroup (wgmma.hpp) whose A comes from registers, in bfloat16. Of rows
// 16·(t/32) + t%32/4 + 8·i thread t holds words a[i + 2·h]. These are the elements 2·(t%4) + 8·h
// and the next one along k, the first in the word's lower half. The words must not change before
// the product has been waited for; ptxas sees to that.

#include "parts/ptx/wgmma.hpp"

#if !defined(__CUDACC__)
extern "C" void simt_wgmma_words(float* sums, int columns, const std::uint32_t* a, std::uint64_t b,
                                 int add);
#endif

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

#if defined(__CUDACC__)
#define WARPLADDER_WORDS_TILE_ADD \
  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(both_words(b)), "r"(static_cast<int>(add))
#endif

// wgmma.mma_async.m64nNk16.f32.bf16.bf16: sums = A·B (+ sums if `add`), N = 2·count.
template <int count>
__device__ __forceinline__ void multiply_bf16(float (&sums)[count], const unsigned (&a)[4],
                                              TileDescriptor b, bool add) {
  static_assert(count == 8 || count == 16 || count == 32 || count == 48 || count == 64,
                "16, 32, 64, 96 or 128 columns");
#if defined(__CUDACC__)
  if constexpr (count == 8) {
    asm volatile(
        "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %13, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16"
        " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, add, 1, 1, 0;\n\t}"
        : WARPLADDER_SUMS8(sums, 0)
        : WARPLADDER_WORDS_TILE_ADD);
  }
  if constexpr (count == 16) {
    asm volatile(
        "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %21, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16"
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
        ", {%16, %17, %18, %19}, %20, add, 1, 1, 0;\n\t}"
        : WARPLADDER_SUMS16(sums, 0)
        : WARPLADDER_WORDS_TILE_ADD);
  }
  if constexpr (count == 32) {
    asm volatile(
        "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %37, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" WARPLADDER_NAMES32_0
        "}, {%32, %33, %34, %35}, %36, add, 1, 1, 0;\n\t}"
        : WARPLADDER_SUMS32(sums, 0)
        : WARPLADDER_WORDS_TILE_ADD);
  }
  if constexpr (count == 48) {
    asm volatile(
        "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %53, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16 {" WARPLADDER_NAMES32_0
        ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}"
        ", {%48, %49, %50, %51}, %52, add, 1, 1, 0;\n\t}"
        : WARPLADDER_SUMS32(sums, 0), WARPLADDER_SUMS16(sums, 32)
        : WARPLADDER_WORDS_TILE_ADD);
  }
  if constexpr (count == 64) {
    asm volatile(
        "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %69, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" WARPLADDER_NAMES32_0
        ", " WARPLADDER_NAMES32_1 "}, {%64, %65, %66, %67}, %68, add, 1, 1, 0;\n\t}"
        : WARPLADDER_SUMS32(sums, 0), WARPLADDER_SUMS32(sums, 32)
        : WARPLADDER_WORDS_TILE_ADD);
  }
#else
  simt_wgmma_words(sums, 2 * count, a, both_words(b), add);
#endif
}
#undef WARPLADDER_WORDS_TILE_ADD

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
