#pragma once
// Matrices of 8×8 halves from shared memory to the registers of a warp (PTX ISA, "ldmatrix"): what
// mma.hpp multiplies. Called by all 32 lanes of a warp together.
//
// Lane 8·m + r names row r of matrix m: the shared_address() of its 16 bytes, a multiple of 16. Of
// matrix m lane l gets to[m], the word of 4 bytes l%4 of row l/4. Transposed, it gets column l/4 of
// rows 2·(l%4), in the lower half, and 2·(l%4) + 1. Without transposing, a row may as well be four
// floats.

#include "parts/ptx/mbarrier.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::ptx {
inline namespace WARPLADDER_FLAVOUR {

// ldmatrix.sync.m8n8.x1, .x2 or .x4 (.trans).
template <bool kTransposed = false, int count>
__device__ __forceinline__ void load_matrices(unsigned (&to)[count], unsigned row) {
  static_assert(count == 1 || count == 2 || count == 4);
#if defined(__CUDACC__)
  if constexpr (count == 1 && !kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(to[0])
                 : "r"(row)
                 : "memory");
  } else if constexpr (count == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(to[0])
                 : "r"(row)
                 : "memory");
  } else if constexpr (count == 2 && !kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(row)
                 : "memory");
  } else if constexpr (count == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(to[0]), "=r"(to[1])
                 : "r"(row)
                 : "memory");
  } else if constexpr (!kTransposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
  }
#else
  simt_ldmatrix(to, row, count, kTransposed);
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::ptx
