#pragma once
// Where the user of a ring of stages is, each of which has an mbarrier for "full" and one for
// "empty" (parts/ptx/mbarrier.hpp).

#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// A stage, and the parity of the phase that its user waits for. A consumer begins with 0, for the
// first filling. A producer begins with 1, for a stage is empty before it was ever filled.
template <int kStages>
struct RingPlace {
  int stage = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
  // The one before this.
  __device__ __forceinline__ int last_stage() const { return stage == 0 ? kStages - 1 : stage - 1; }
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
