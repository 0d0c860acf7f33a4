#pragma once
// What both dialects of CUDA C++ for g++ share: cuda_language.hpp's, for rungs in C++20, and
// src/programs/include's, for whole programs in C++17. It names the built-in variables and the
// executor's functions, which language_runtime.cpp and its neighbours define.

#include <cstdint>

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
// Constant within a fiber, hence the attribute: the compiler may call each once per kernel.
__attribute__((const)) uint3 simt_thread_idx();
__attribute__((const)) uint3 simt_block_idx();
__attribute__((const)) dim3 simt_block_dim();
__attribute__((const)) dim3 simt_grid_dim();
__attribute__((const)) unsigned char* simt_dynamic_shared();
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
