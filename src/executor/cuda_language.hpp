#pragma once
// The CUDA C++ that a kernel's source may use, given a meaning for g++. Kernel translation units
// get it through device/kernel.hpp; nothing else includes it. Every function here is forced inline
// and ends in a call of the executor (simt_*, defined in executor.cpp and friends). So the call's
// return address lies in the kernel and names its source line.

#if defined(__CUDACC__)
#error "nvcc brings its own meaning of CUDA C++"
#endif

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "executor/simt_functions.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
// One OS thread runs one block at a time, so thread-local storage is a block's shared memory.
// The blocks of a cluster share an OS thread: they may use dynamic shared memory alone, of which
// each has its own.
// constinit: an array of float4 would otherwise get a guard variable, itself in "shared memory".
#define __shared__ static thread_local constinit __attribute__((aligned(128)))

#define WARPLADDER_INLINE inline __attribute__((always_inline))

extern "C" {
void simt_cp_async_arrive(std::uint64_t* barrier);
// Clusters, mbarriers, the copy engine and the tensor cores: see src/parts/ptx.
unsigned simt_cluster_rank();
void simt_cluster_barrier();
void simt_named_barrier(int id, int threads);
void* simt_in_block(void* shared, unsigned rank);
void simt_mbarrier_init(std::uint64_t* barrier, unsigned arrivals);
void simt_mbarrier_arrive(std::uint64_t* barrier, unsigned expected_bytes);
void simt_mbarrier_arrive_at(std::uint64_t* barrier, unsigned rank);
void simt_mbarrier_wait(std::uint64_t* barrier, unsigned parity);
void simt_tma_load(void* shared, const void* map, std::uint64_t* full, int row, int column,
                   unsigned ranks);
void simt_store_async16(void* there, std::uint64_t* full, const void* value);
void simt_wgmma(float* sums, int columns, int element_bytes, std::uint64_t a, std::uint64_t b,
                int add);
void simt_mma_f64(double* sums, double a0, double a1, double b);
void simt_mma(float* sums, const std::uint32_t* a, const std::uint32_t* b, int element_bytes,
              int add);
void simt_ldmatrix(std::uint32_t* to, unsigned row, int count, int transposed);
void simt_wgmma_commit();
void simt_wgmma_wait(int groups_left);
}

// ---- vector types: a user-provided copy through one machine vector keeps the compiler from
// splitting a float4 into four accesses. Those would be four requests where the GPU makes one.
namespace simt {
template <class T, int n>
struct machine_vector {
  typedef T type __attribute__((vector_size(n * sizeof(T)), may_alias));
};
}  // namespace simt

#define WARPLADDER_VECTOR_COPY(Type, element, n)               \
  Type() = default;                                            \
  WARPLADDER_INLINE Type(const Type& other) { *this = other; } \
  WARPLADDER_INLINE Type& operator=(const Type& other) {       \
    using Machine = simt::machine_vector<element, n>::type;    \
    Machine value = *reinterpret_cast<const Machine*>(&other); \
    *reinterpret_cast<Machine*>(this) = value;                 \
    return *this;                                              \
  }
#define WARPLADDER_VECTOR_2(Type, element)                           \
  struct alignas(2 * sizeof(element)) Type {                         \
    element x, y;                                                    \
    WARPLADDER_VECTOR_COPY(Type, element, 2)                         \
    WARPLADDER_INLINE Type(element x_, element y_) : x(x_), y(y_) {} \
  };                                                                 \
  WARPLADDER_INLINE Type make_##Type(element x, element y) { return Type(x, y); }
#define WARPLADDER_VECTOR_4(Type, element)                                         \
  struct alignas(4 * sizeof(element)) Type {                                       \
    element x, y, z, w;                                                            \
    WARPLADDER_VECTOR_COPY(Type, element, 4)                                       \
    WARPLADDER_INLINE Type(element x_, element y_, element z_, element w_)         \
        : x(x_), y(y_), z(z_), w(w_) {}                                            \
  };                                                                               \
  WARPLADDER_INLINE Type make_##Type(element x, element y, element z, element w) { \
    return Type(x, y, z, w);                                                       \
  }
WARPLADDER_VECTOR_2(float2, float)
WARPLADDER_VECTOR_2(double2, double)
WARPLADDER_VECTOR_2(int2, int)
WARPLADDER_VECTOR_2(uint2, unsigned)
WARPLADDER_VECTOR_4(float4, float)
WARPLADDER_VECTOR_4(int4, int)
WARPLADDER_VECTOR_4(uint4, unsigned)
#undef WARPLADDER_VECTOR_2
#undef WARPLADDER_VECTOR_4
#undef WARPLADDER_VECTOR_COPY

// ---- barriers
WARPLADDER_INLINE void __syncthreads() { simt_sync_block(simt::kBarrier, 0); }
WARPLADDER_INLINE int __syncthreads_and(int predicate) {
  return simt_sync_block(simt::kBarrierAnd, predicate);
}
WARPLADDER_INLINE int __syncthreads_or(int predicate) {
  return simt_sync_block(simt::kBarrierOr, predicate);
}
WARPLADDER_INLINE int __syncthreads_count(int predicate) {
  return simt_sync_block(simt::kBarrierCount, predicate);
}
WARPLADDER_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { simt_sync_warp(mask); }
WARPLADDER_INLINE void __threadfence_block() { asm volatile("" ::: "memory"); }
WARPLADDER_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
WARPLADDER_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// ---- warp-wide exchange
namespace simt {
template <class T>
WARPLADDER_INLINE T shuffle(unsigned mask, T value, int form, int argument, int width) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "CUDA shuffles 4- and 8-byte arithmetic types");
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return std::bit_cast<T>(
      static_cast<Bits>(simt_shuffle(mask, std::bit_cast<Bits>(value), form, argument, width)));
}
}  // namespace simt
template <class T>
WARPLADDER_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize) {
  return simt::shuffle(mask, value, simt::kIndex, lane, width);
}
template <class T>
WARPLADDER_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  return simt::shuffle(mask, value, simt::kUp, static_cast<int>(delta), width);
}
template <class T>
WARPLADDER_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  return simt::shuffle(mask, value, simt::kDown, static_cast<int>(delta), width);
}
template <class T>
WARPLADDER_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  return simt::shuffle(mask, value, simt::kXor, lane_mask, width);
}
WARPLADDER_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  return simt_vote(mask, predicate, simt::kBallot);
}
WARPLADDER_INLINE int __any_sync(unsigned mask, int predicate) {
  return static_cast<int>(simt_vote(mask, predicate, simt::kAny));
}
WARPLADDER_INLINE int __all_sync(unsigned mask, int predicate) {
  return static_cast<int>(simt_vote(mask, predicate, simt::kAll));
}
WARPLADDER_INLINE unsigned __activemask() { return simt_active_mask(); }

#define WARPLADDER_REDUCE(name, type, form)                                          \
  WARPLADDER_INLINE type name(unsigned mask, type value) {                           \
    return static_cast<type>(simt_reduce(mask, static_cast<unsigned>(value), form)); \
  }
WARPLADDER_REDUCE(__reduce_add_sync, unsigned, simt::kAdd)
WARPLADDER_REDUCE(__reduce_add_sync, int, simt::kAdd)
WARPLADDER_REDUCE(__reduce_min_sync, unsigned, simt::kMinUnsigned)
WARPLADDER_REDUCE(__reduce_min_sync, int, simt::kMinSigned)
WARPLADDER_REDUCE(__reduce_max_sync, unsigned, simt::kMaxUnsigned)
WARPLADDER_REDUCE(__reduce_max_sync, int, simt::kMaxSigned)
WARPLADDER_REDUCE(__reduce_and_sync, unsigned, simt::kAnd)
WARPLADDER_REDUCE(__reduce_or_sync, unsigned, simt::kOr)
WARPLADDER_REDUCE(__reduce_xor_sync, unsigned, simt::kXorBits)
#undef WARPLADDER_REDUCE

// ---- atomics: performed by the executor, in the order of the blocks (executor.hpp says why)
namespace simt {
template <class T>
WARPLADDER_INLINE T atomic(T* address, T operand, T compare, int form) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(simt_atomic4(address, std::bit_cast<std::uint32_t>(operand),
                                         std::bit_cast<std::uint32_t>(compare), form));
  } else {
    return std::bit_cast<T>(simt_atomic8(address, std::bit_cast<std::uint64_t>(operand),
                                         std::bit_cast<std::uint64_t>(compare), form));
  }
}
}  // namespace simt
#define WARPLADDER_ATOMIC(name, type, form)                  \
  WARPLADDER_INLINE type name(type* address, type operand) { \
    return simt::atomic<type>(address, operand, {}, form);   \
  }
WARPLADDER_ATOMIC(atomicAdd, int, simt::kAtomicAdd)
WARPLADDER_ATOMIC(atomicAdd, unsigned, simt::kAtomicAdd)
WARPLADDER_ATOMIC(atomicAdd, unsigned long long, simt::kAtomicAdd)
WARPLADDER_ATOMIC(atomicAdd, float, simt::kAtomicAddFloat)
WARPLADDER_ATOMIC(atomicAdd, double, simt::kAtomicAddFloat)
WARPLADDER_ATOMIC(atomicExch, int, simt::kAtomicExchange)
WARPLADDER_ATOMIC(atomicExch, unsigned, simt::kAtomicExchange)
WARPLADDER_ATOMIC(atomicExch, unsigned long long, simt::kAtomicExchange)
WARPLADDER_ATOMIC(atomicExch, float, simt::kAtomicExchange)
WARPLADDER_ATOMIC(atomicMin, int, simt::kAtomicMinSigned)
WARPLADDER_ATOMIC(atomicMin, long long, simt::kAtomicMinSigned)
WARPLADDER_ATOMIC(atomicMin, unsigned, simt::kAtomicMinUnsigned)
WARPLADDER_ATOMIC(atomicMin, unsigned long long, simt::kAtomicMinUnsigned)
WARPLADDER_ATOMIC(atomicMax, int, simt::kAtomicMaxSigned)
WARPLADDER_ATOMIC(atomicMax, long long, simt::kAtomicMaxSigned)
WARPLADDER_ATOMIC(atomicMax, unsigned, simt::kAtomicMaxUnsigned)
WARPLADDER_ATOMIC(atomicMax, unsigned long long, simt::kAtomicMaxUnsigned)
WARPLADDER_ATOMIC(atomicAnd, int, simt::kAtomicAnd)
WARPLADDER_ATOMIC(atomicAnd, unsigned, simt::kAtomicAnd)
WARPLADDER_ATOMIC(atomicAnd, unsigned long long, simt::kAtomicAnd)
WARPLADDER_ATOMIC(atomicOr, int, simt::kAtomicOr)
WARPLADDER_ATOMIC(atomicOr, unsigned, simt::kAtomicOr)
WARPLADDER_ATOMIC(atomicOr, unsigned long long, simt::kAtomicOr)
WARPLADDER_ATOMIC(atomicXor, int, simt::kAtomicXor)
WARPLADDER_ATOMIC(atomicXor, unsigned, simt::kAtomicXor)
WARPLADDER_ATOMIC(atomicXor, unsigned long long, simt::kAtomicXor)
WARPLADDER_ATOMIC(atomicInc, unsigned, simt::kAtomicIncrement)
WARPLADDER_ATOMIC(atomicDec, unsigned, simt::kAtomicDecrement)
#undef WARPLADDER_ATOMIC
WARPLADDER_INLINE int atomicSub(int* address, int operand) { return atomicAdd(address, -operand); }
WARPLADDER_INLINE unsigned atomicSub(unsigned* address, unsigned operand) {
  return atomicAdd(address, 0u - operand);
}
template <class T>
WARPLADDER_INLINE T atomicCAS(T* address, T compare, T value) {
  static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  return simt::atomic<T>(address, value, compare, simt::kAtomicCompareSwap);
}

// ---- loads with a cache hint mean plain loads here
template <class T>
WARPLADDER_INLINE T __ldg(const T* p) {
  return *p;
}
template <class T>
WARPLADDER_INLINE T __ldcs(const T* p) {
  return *p;
}
template <class T>
WARPLADDER_INLINE T __ldcg(const T* p) {
  return *p;
}
template <class T>
WARPLADDER_INLINE void __stcs(T* p, T value) {
  *p = value;
}

// ---- the usual math (fmaf, sqrtf, expf, fminf and friends come from <cmath>)
WARPLADDER_INLINE float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
WARPLADDER_INLINE float __fdividef(float a, float b) { return a / b; }
WARPLADDER_INLINE float __frcp_rn(float a) { return 1.0f / a; }
WARPLADDER_INLINE float __fsqrt_rn(float a) { return sqrtf(a); }
WARPLADDER_INLINE float rsqrtf(float a) { return 1.0f / sqrtf(a); }
WARPLADDER_INLINE double rsqrt(double a) { return 1.0 / sqrt(a); }
WARPLADDER_INLINE float __expf(float a) { return expf(a); }
WARPLADDER_INLINE float __logf(float a) { return logf(a); }
WARPLADDER_INLINE float __sinf(float a) { return sinf(a); }
WARPLADDER_INLINE float __cosf(float a) { return cosf(a); }
WARPLADDER_INLINE float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }

#define WARPLADDER_MIN_MAX(type)                                                 \
  WARPLADDER_INLINE constexpr type min(type a, type b) { return b < a ? b : a; } \
  WARPLADDER_INLINE constexpr type max(type a, type b) { return a < b ? b : a; }
WARPLADDER_MIN_MAX(int)
WARPLADDER_MIN_MAX(unsigned)
WARPLADDER_MIN_MAX(long)
WARPLADDER_MIN_MAX(unsigned long)
WARPLADDER_MIN_MAX(long long)
WARPLADDER_MIN_MAX(unsigned long long)
#undef WARPLADDER_MIN_MAX
WARPLADDER_INLINE float min(float a, float b) { return fminf(a, b); }
WARPLADDER_INLINE float max(float a, float b) { return fmaxf(a, b); }
WARPLADDER_INLINE double min(double a, double b) { return fmin(a, b); }
WARPLADDER_INLINE double max(double a, double b) { return fmax(a, b); }

WARPLADDER_INLINE int __popc(unsigned a) { return std::popcount(a); }
WARPLADDER_INLINE int __popcll(unsigned long long a) { return std::popcount(a); }
WARPLADDER_INLINE int __clz(int a) { return std::countl_zero(static_cast<unsigned>(a)); }
WARPLADDER_INLINE int __clzll(long long a) {
  return std::countl_zero(static_cast<unsigned long long>(a));
}
WARPLADDER_INLINE int __ffs(int a) { return __builtin_ffs(a); }
WARPLADDER_INLINE int __ffsll(long long a) { return __builtin_ffsll(a); }
WARPLADDER_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} * b) >> 32);
}
WARPLADDER_INLINE int __float_as_int(float a) { return std::bit_cast<int>(a); }
WARPLADDER_INLINE unsigned __float_as_uint(float a) { return std::bit_cast<unsigned>(a); }
WARPLADDER_INLINE float __int_as_float(int a) { return std::bit_cast<float>(a); }
WARPLADDER_INLINE float __uint_as_float(unsigned a) { return std::bit_cast<float>(a); }
