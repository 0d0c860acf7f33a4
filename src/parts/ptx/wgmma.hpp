#pragma once
// Hopper's tensor cores (PTX ISA, "wgmma"). The four warps of a warpgroup, 128 threads, multiply a
// 64×K tile of A by a K×N tile of B. Both tiles are in shared memory; the products are added to
// 64×N sums in registers.
// K is 16 halves or 8 floats (of which the tensor cores read the upper 19 bits, "TF32"): 32 bytes.
//
// Both tiles have their lines along k, 128 bytes of each: a row of A, a column of B. They lie one
// after the other from a multiple of 1,024 bytes, in the 128-byte swizzle (device/tensor_map.hpp).
// A descriptor names the tile's address; + 32 bytes is 16 halves or 8 floats further along k.
//
// Thread t of the warpgroup holds sums of rows 16·(t/32) + t%32/4 + 8·h and columns 8·j + 2·(t%4) +
// i. Each is d[4·j + 2·h + i], for i and h of 0 and 1.
//
// Products are asynchronous. All 128 threads call alike. wgmma_fence() comes before the first
// product after the registers, or the shared memory through ordinary stores, were touched.
// wgmma_commit() closes a group. wgmma_wait<n>() returns when at most n groups are still under way.
// pin() then keeps the compiler from having read the sums before. The adder truncates: see
// LADDER.md.
//
// On the CPU side the sums appear at the wait. Each instruction adds its exact products to the sum
// and truncates once.

#include "parts/ptx/mbarrier.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// The lower word of what wgmma takes. The upper is the same for all tiles: the swizzle, and 1,024
// bytes from eight lines to the next eight.
using TileDescriptor = std::uint32_t;

// The number of the thread's warpgroup in its block, from one lane. So the compiler knows it to be
// the same for all, and tiles' descriptors, which it decides, lie in uniform registers.
__device__ __forceinline__ int warpgroup() {
  return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0);
}

// Of the tile that begins at `shared`.
__device__ __forceinline__ TileDescriptor tile_descriptor(const void* shared) {
  constexpr unsigned kUnusedStride = 1u << 16;
  const unsigned address = shared_address(shared);
  return ((address & 0x3FFFF) >> 4) | kUnusedStride;
}
// The descriptor of what lies `bytes`, a multiple of 16, behind.
__device__ __forceinline__ TileDescriptor behind(TileDescriptor tile, int bytes) {
  return tile + static_cast<TileDescriptor>(bytes >> 4);
}
__device__ __forceinline__ std::uint64_t both_words(TileDescriptor tile) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{1} << 62,
                          kEightLines = std::uint64_t{1024 >> 4} << 32;
  return kSwizzle128 | kEightLines | tile;
}

// wgmma.fence.
__device__ __forceinline__ void wgmma_fence() {
#if defined(__CUDACC__)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

// wgmma.commit_group.
__device__ __forceinline__ void wgmma_commit() {
#if defined(__CUDACC__)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
  simt_wgmma_commit();
#endif
}

// wgmma.wait_group.
template <int groups_left>
__device__ __forceinline__ void wgmma_wait() {
#if defined(__CUDACC__)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups_left) : "memory");
#else
  simt_wgmma_wait(groups_left);
#endif
}

// Nothing reads `sums` before this point.
template <int count>
__device__ __forceinline__ void pin(float (&sums)[count]) {
#if defined(__CUDACC__)
  WARPLADDER_UNROLL
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(sums[i])::"memory");
#else
  static_cast<void>(sums);
#endif
}

#if defined(__CUDACC__)
// Operands of the asm statements below: eight sums, as output and as text.
#define WARPLADDER_SUMS8(d, i)                                                                \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define WARPLADDER_SUMS16(d, i) WARPLADDER_SUMS8(d, i), WARPLADDER_SUMS8(d, i + 8)
#define WARPLADDER_SUMS32(d, i) WARPLADDER_SUMS16(d, i), WARPLADDER_SUMS16(d, i + 16)
#define WARPLADDER_NAMES32_0                                                                   \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
  "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WARPLADDER_NAMES32_1                                                                   \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, " \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WARPLADDER_NAMES32_2                                                                   \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, " \
  "%82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WARPLADDER_WGMMA_N32(shape_and_types, flags)                            \
  asm volatile(                                                                 \
      "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %18, 0;\n\t"                    \
      "wgmma.mma_async.sync.aligned." shape_and_types                           \
      " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}" \
      ", %16, %17, add, 1, 1" flags ";\n\t}"                                    \
      : WARPLADDER_SUMS16(sums, 0)                                              \
      : "l"(both_words(a)), "l"(both_words(b)), "r"(static_cast<int>(add)))
#define WARPLADDER_WGMMA_N64(shape_and_types, flags)                            \
  asm volatile(                                                                 \
      "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %34, 0;\n\t"                    \
      "wgmma.mma_async.sync.aligned." shape_and_types " {" WARPLADDER_NAMES32_0 \
      "}, %32, %33, add, 1, 1" flags ";\n\t}"                                   \
      : WARPLADDER_SUMS32(sums, 0)                                              \
      : "l"(both_words(a)), "l"(both_words(b)), "r"(static_cast<int>(add)))
#define WARPLADDER_WGMMA_N128(shape_and_types, flags)                           \
  asm volatile(                                                                 \
      "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %66, 0;\n\t"                    \
      "wgmma.mma_async.sync.aligned." shape_and_types " {" WARPLADDER_NAMES32_0 \
      ", " WARPLADDER_NAMES32_1 "}, %64, %65, add, 1, 1" flags ";\n\t}"         \
      : WARPLADDER_SUMS32(sums, 0), WARPLADDER_SUMS32(sums, 32)                 \
      : "l"(both_words(a)), "l"(both_words(b)), "r"(static_cast<int>(add)))
#define WARPLADDER_WGMMA_N192(shape_and_types, flags)                                             \
  asm volatile(                                                                                   \
      "{\n\t.reg .pred add;\n\tsetp.ne.b32 add, %98, 0;\n\t"                                      \
      "wgmma.mma_async.sync.aligned." shape_and_types " {" WARPLADDER_NAMES32_0                   \
      ", " WARPLADDER_NAMES32_1 ", " WARPLADDER_NAMES32_2 "}, %96, %97, add, 1, 1" flags ";\n\t}" \
      : WARPLADDER_SUMS32(sums, 0), WARPLADDER_SUMS32(sums, 32), WARPLADDER_SUMS32(sums, 64)      \
      : "l"(both_words(a)), "l"(both_words(b)), "r"(static_cast<int>(add)))
#endif

// Sums of a thread, half as many as columns.
constexpr bool is_wgmma_count(int count) {
  return count == 16 || count == 32 || count == 64 || count == 96;
}

// wgmma.mma_async.m64nNk16.f32.f16.f16: sums = A·B (+ sums if `add`), halves in, N = 2·count.
template <int count>
__device__ __forceinline__ void multiply_f16(float (&sums)[count], TileDescriptor a,
                                             TileDescriptor b, bool add) {
  static_assert(is_wgmma_count(count), "32, 64, 128 or 192 columns");
#if defined(__CUDACC__)
  if constexpr (count == 16) WARPLADDER_WGMMA_N32("m64n32k16.f32.f16.f16", ", 0, 0");
  if constexpr (count == 32) WARPLADDER_WGMMA_N64("m64n64k16.f32.f16.f16", ", 0, 0");
  if constexpr (count == 64) WARPLADDER_WGMMA_N128("m64n128k16.f32.f16.f16", ", 0, 0");
  if constexpr (count == 96) WARPLADDER_WGMMA_N192("m64n192k16.f32.f16.f16", ", 0, 0");
#else
  simt_wgmma(sums, 2 * count, 2, both_words(a), both_words(b), add);
#endif
}

// wgmma.mma_async.m64nNk8.f32.tf32.tf32: the same of floats.
template <int count>
__device__ __forceinline__ void multiply_tf32(float (&sums)[count], TileDescriptor a,
                                              TileDescriptor b, bool add) {
  static_assert(is_wgmma_count(count), "32, 64, 128 or 192 columns");
#if defined(__CUDACC__)
  if constexpr (count == 16) WARPLADDER_WGMMA_N32("m64n32k8.f32.tf32.tf32", "");
  if constexpr (count == 32) WARPLADDER_WGMMA_N64("m64n64k8.f32.tf32.tf32", "");
  if constexpr (count == 64) WARPLADDER_WGMMA_N128("m64n128k8.f32.tf32.tf32", "");
  if constexpr (count == 96) WARPLADDER_WGMMA_N192("m64n192k8.f32.tf32.tf32", "");
#else
  simt_wgmma(sums, 2 * count, 4, both_words(a), both_words(b), add);
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
