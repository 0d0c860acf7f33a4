// Atomics of every form and type, in global and in shared memory.

#include "kernels/kernel.hpp"

namespace warpladder::kernel_tests {
namespace {

template <class T>
struct Add {
  __device__ __forceinline__ static T apply(T* p, T v) { return atomicAdd(p, v); }
};
template <class T>
struct Subtract {
  __device__ __forceinline__ static T apply(T* p, T v) { return atomicSub(p, v); }
};
template <class T>
struct Exchange {
  __device__ __forceinline__ static T apply(T* p, T v) { return atomicExch(p, v); }
};
template <class T>
struct Min {
  __device__ __forceinline__ static T apply(T* p, T v) { return atomicMin(p, v); }
};
template <class T>
struct Max {
  __device__ __forceinline__ static T apply(T* p, T v) { return atomicMax(p, v); }
};
template <class T>
struct And {
  __device__ __forceinline__ static T apply(T* p, T v) { return atomicAnd(p, v); }
};
template <class T>
struct Or {
  __device__ __forceinline__ static T apply(T* p, T v) { return atomicOr(p, v); }
};
template <class T>
struct Xor {
  __device__ __forceinline__ static T apply(T* p, T v) { return atomicXor(p, v); }
};
template <class T>
struct Increment {
  __device__ __forceinline__ static T apply(T* p, T v) { return atomicInc(p, v); }
};
template <class T>
struct Decrement {
  __device__ __forceinline__ static T apply(T* p, T v) { return atomicDec(p, v); }
};
// 3 * old + v by compare-and-swap: needs each old value to be read and replaced in one piece.
template <class T>
struct TripleAndAdd {
  __device__ __forceinline__ static T apply(T* p, T v) {
    T seen = atomicCAS(p, T{}, T{});  // an atomic read: a plain one would race with the others
    for (;;) {
      const T old = atomicCAS(p, seen, 3 * seen + v);
      if (old == seen) return old;
      seen = old;
    }
  }
};
// A float maximum, which CUDA does not offer, by compare-and-swap on its bits.
template <class T>
struct MaxByBits {
  __device__ __forceinline__ static T apply(T* p, T v) {
    int* bits = reinterpret_cast<int*>(p);
    int seen = atomicCAS(bits, 0, 0);
    while (__int_as_float(seen) < v) {
      const int old = atomicCAS(bits, seen, __float_as_int(v));
      if (old == seen) break;
      seen = old;
    }
    return __int_as_float(seen);
  }
};

// Thread t works on cell t % cells and keeps what it was told had been there.
template <class Operation, class T>
__global__ void in_global(T* target, const T* operands, T* before, int cells) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  before[t] = Operation::apply(target + t % static_cast<unsigned>(cells), operands[t]);
}
// The same in a shared copy of the cells, in one block.
template <class Operation, class T>
__global__ void in_shared(T* target, const T* operands, T* before, int cells) {
  __shared__ T cell[64];
  const unsigned t = threadIdx.x, n = static_cast<unsigned>(cells);
  if (t < n) cell[t] = target[t];
  __syncthreads();  // the cells are there
  before[t] = Operation::apply(cell + t % n, operands[t]);
  __syncthreads();  // every thread has worked on them
  if (t < n) target[t] = cell[t];
}

#define ATOMIC(Operation, T)                          \
  WARPLADDER_TEST_KERNEL(in_global<Operation<T>, T>); \
  WARPLADDER_TEST_KERNEL(in_shared<Operation<T>, T>)
ATOMIC(Add, int);
ATOMIC(Add, unsigned);
ATOMIC(Add, unsigned long long);
ATOMIC(Add, float);
ATOMIC(Add, double);
ATOMIC(Subtract, int);
ATOMIC(Subtract, unsigned);
ATOMIC(Exchange, int);
ATOMIC(Exchange, unsigned);
ATOMIC(Exchange, unsigned long long);
ATOMIC(Exchange, float);
ATOMIC(Min, int);
ATOMIC(Min, unsigned);
ATOMIC(Min, long long);
ATOMIC(Min, unsigned long long);
ATOMIC(Max, int);
ATOMIC(Max, unsigned);
ATOMIC(Max, long long);
ATOMIC(Max, unsigned long long);
ATOMIC(And, int);
ATOMIC(And, unsigned);
ATOMIC(And, unsigned long long);
ATOMIC(Or, int);
ATOMIC(Or, unsigned);
ATOMIC(Or, unsigned long long);
ATOMIC(Xor, int);
ATOMIC(Xor, unsigned);
ATOMIC(Xor, unsigned long long);
ATOMIC(Increment, unsigned);
ATOMIC(Decrement, unsigned);
ATOMIC(TripleAndAdd, int);
ATOMIC(TripleAndAdd, unsigned);
ATOMIC(TripleAndAdd, unsigned long long);
ATOMIC(MaxByBits, float);

}  // namespace
}  // namespace warpladder::kernel_tests
