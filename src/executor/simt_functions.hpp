#pragma once
// What both dialects of CUDA C++ for g++ share: cuda_language.hpp's, for rungs in C++20, and
// src/programs/include's, for whole programs in C++17. It names the built-in variables and the
// executor's functions, which language_runtime.cpp and its neighbours define.

#include <cstdint>

#include "executor/place.hpp"

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 u) : x(u.x), y(u.y), z(u.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

extern "C" {
int simt_sync_block(int form, int predicate);
void simt_sync_warp(unsigned mask);
std::uint64_t simt_shuffle(unsigned mask, std::uint64_t value, int form, int argument, int width);
unsigned simt_vote(unsigned mask, int predicate, int form);
unsigned simt_reduce(unsigned mask, unsigned value, int form);
unsigned simt_active_mask();
std::uint32_t simt_atomic4(void* address, std::uint32_t operand, std::uint32_t compare, int form);
std::uint64_t simt_atomic8(void* address, std::uint64_t operand, std::uint64_t compare, int form);
void simt_cp_async4(void* shared, const void* global, unsigned source_bytes);
void simt_cp_async8(void* shared, const void* global, unsigned source_bytes);
void simt_cp_async16(void* shared, const void* global, unsigned source_bytes);
void simt_cp_async_commit();
void simt_cp_async_wait(int groups_left);
unsigned simt_shared_address(const void* shared);
}

// The place never changes within a thread, but g++ would load it again after each call, and the
// counted flavour would report the loads. So instructions load it of which g++ knows only that they
// always give the same.
namespace simt {
template <int kOffset>
inline __attribute__((always_inline)) unsigned word_of_place() {
  unsigned word;
  asm("movl %%fs:simt_place@tpoff+%c1, %0" : "=r"(word) : "i"(kOffset));
  return word;
}
template <int kOffset>
inline __attribute__((always_inline)) uint3 index_of_place() {
  return {word_of_place<kOffset>(), word_of_place<kOffset + 4>(), word_of_place<kOffset + 8>()};
}
}  // namespace simt
inline __attribute__((always_inline)) uint3 simt_thread_idx() {
  return simt::index_of_place<SimtPlace::kThread>();
}
inline __attribute__((always_inline)) uint3 simt_block_idx() {
  return simt::index_of_place<SimtPlace::kBlock>();
}
inline __attribute__((always_inline)) dim3 simt_block_dim() {
  return simt::index_of_place<SimtPlace::kBlockDim>();
}
inline __attribute__((always_inline)) dim3 simt_grid_dim() {
  return simt::index_of_place<SimtPlace::kGridDim>();
}
inline __attribute__((always_inline)) unsigned char* simt_dynamic_shared() {
  unsigned char* p;
  asm("movq %%fs:simt_place@tpoff+%c1, %0" : "=r"(p) : "i"(SimtPlace::kDynamicShared));
  return p;
}

// The `form` of the functions above.
namespace simt {
enum BarrierForm { kBarrier, kBarrierAnd, kBarrierOr, kBarrierCount };
enum ShuffleForm { kIndex, kUp, kDown, kXor };
enum VoteForm { kBallot, kAny, kAll };
enum ReduceForm { kAdd, kMinSigned, kMaxSigned, kMinUnsigned, kMaxUnsigned, kAnd, kOr, kXorBits };
enum AtomicForm {
  kAtomicAdd,
  kAtomicAddFloat,
  kAtomicExchange,
  kAtomicCompareSwap,
  kAtomicMinSigned,
  kAtomicMaxSigned,
  kAtomicMinUnsigned,
  kAtomicMaxUnsigned,
  kAtomicAnd,
  kAtomicOr,
  kAtomicXor,
  kAtomicIncrement,
  kAtomicDecrement,
};
}  // namespace simt

#define threadIdx (::simt_thread_idx())
#define blockIdx (::simt_block_idx())
#define blockDim (::simt_block_dim())
#define gridDim (::simt_grid_dim())
constexpr int warpSize = 32;
