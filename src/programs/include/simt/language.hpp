#pragma once
// CUDA C++ for g++, as whole programs use it: keywords, built-in variables, and the executor's
// functions. It is a wider dialect than executor/cuda_language.hpp gives to rungs: C++17, vector
// types that are plain aggregates, host code in the same file.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "executor/simt_functions.hpp"

#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __managed__
// Apart from other variables: the linker gathers this section into constant memory.
#define __constant__ __attribute__((section(".data.simt_constant")))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define CUDARTAPI
#define CUDART_CB
#define CUDA_CB
// One OS thread runs one block at a time, so thread-local storage is a block's shared memory.
// constinit: an array of a class would otherwise get a guard variable, itself in "shared memory".
#define __shared__ static thread_local __constinit __attribute__((aligned(16)))
#define SIMT_INLINE inline __attribute__((always_inline))

#define CUDA_VERSION 12040
#ifndef SIMT_HOST_ONLY  // as in files that nvcc hands to the host's compiler
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDA_ARCH__ 800
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#endif
#define __builtin_assume(condition) ((void)0)
#define __assume(condition) ((void)0)

extern "C" {
// The program's runtime.
void program_keep_step(int is_store);
void program_yield();  // all other threads that can run do so first
// What threads have done to shared memory before is no race with what follows.
void program_threads_have_met();
void program_assert_failed(const char* what, const char* file, int line);
void program_trap();
void program_grid_sync();
// What rewriting makes of PTX that has no meaning here.
__attribute__((error("this inline PTX is not provided here"))) void simt_unknown_ptx();
int program_in_kernel();
__attribute__((const)) unsigned program_thread_rank();  // in its block
// Called first by kernels that may be called through a pointer: only a launch may do so.
void program_enter_kernel(const char* kernel, const void* called_from);
int program_is_shared(const void* pointer);
int program_is_global(const void* pointer);
}

namespace simt {
template <class To, class From>
SIMT_INLINE constexpr To bits(const From& from) {
  return __builtin_bit_cast(To, from);
}
// In front of each access to an element of a volatile array, which comes back: the lanes of a warp
// load together, then store together.
template <class T>
SIMT_INLINE T& before_load(T& element) {
  program_keep_step(0);
  return element;
}
template <class T>
SIMT_INLINE T& before_store(T& element) {
  program_keep_step(1);
  return element;
}
SIMT_INLINE unsigned thread_rank() { return program_thread_rank(); }
SIMT_INLINE unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
SIMT_INLINE unsigned lane() { return thread_rank() % 32; }
SIMT_INLINE unsigned warp() { return thread_rank() / 32; }
SIMT_INLINE unsigned long long block_rank() {
  return blockIdx.x +
         static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
}
}  // namespace simt
