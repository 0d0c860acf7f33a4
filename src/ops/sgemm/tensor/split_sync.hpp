#pragma once
// How consumers synchronise while they split operands by tickets. parts/split.hpp says what it
// expects of such a type.

#include "ops/sgemm/tensor/config.hpp"
#include "parts/ptx/named_barrier.hpp"
#include "parts/split.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

struct SplitSync {
  static constexpr int kBarrier = 1;
  static constexpr bool skips = false;
  __device__ __forceinline__ void operator()() const {
    ptx::named_barrier<kBarrier, TensorConfig::consumers>();
  }
  __device__ __forceinline__ void record(const parts::SplitOperand&, unsigned,
                                         parts::PrecisionLoss) const {}
  // The same barrier, after which ptxas knows that each warp is converged.
  __device__ __forceinline__ void converged() const {
    ptx::named_barrier_together<kBarrier, TensorConfig::consumers>();
  }
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
