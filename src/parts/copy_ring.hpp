#pragma once
// A ring of stages in shared memory that all threads of a block fill with copies of their own
// (cp.async). A stage holds one group of float pairs (float_pairs.hpp) along k, of block_m rows of
// A and then of block_n columns of B. Of each line that is 128 bytes, whose eight pieces of 16
// bytes lie in places XORed with the line's number mod 8.

#include "parts/ptx/cp_async.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ring_place.hpp"
#include "parts/split/operand.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

template <int kBlockM, int kBlockN, int kStages_>
struct CopyRing {
  static constexpr int kStages = kStages_, kLineBytes = 128, kABytes = kBlockM * kLineBytes,
                       kStageBytes = kABytes + kBlockN * kLineBytes;
  unsigned char stage[kStages][kStageBytes];
  ptx::Barrier full[kStages];   // all threads' copies have arrived
  ptx::Barrier empty[kStages];  // all warps have read the stage

  // Called by one thread; a barrier of all users follows.
  __device__ __forceinline__ void init(unsigned threads) {
    for (int s = 0; s < kStages; ++s) {
      ptx::barrier_init(&full[s], threads);
      ptx::barrier_init(&empty[s], threads / 32);
    }
    ptx::fence_barrier_init();
  }
};

// What one of kThreads threads copies of each group: a piece of every (kThreads / 8)th line. Lines
// behind the operand's last become zeros.
template <class Ring, int kBlockM, int kBlockN, int kThreads>
class LineCopies {
 public:
  static constexpr int kLines = kThreads / 8, kOfA = kBlockM / kLines,
                       kPieces = kOfA + kBlockN / kLines;
  static_assert(kBlockM % kLines == 0 && kBlockN % kLines == 0 && kLines % 8 == 0);

  __device__ __forceinline__ LineCopies(Ring& ring, RingPlace<Ring::kStages> to,
                                        const SplitOperand& a, const SplitOperand& b,
                                        std::int64_t row, std::int64_t column)
      : to_(to), ring_(ring) {
    const int line = threadIdx.x / 8, piece = threadIdx.x % 8;
    own_ = line * Ring::kLineBytes + ((piece ^ line % 8) << 4);
    from_a_ = a.pairs + (row + line) * a.line_bytes + piece * 16;
    from_b_ = b.pairs + (column + line) * b.line_bytes + piece * 16;
    groups_ = static_cast<unsigned>(a.line_bytes / Ring::kLineBytes);
    rows_ = within(a.lines - row - line);
    columns_ = within(b.lines - column - line);
  }
  __device__ __forceinline__ RingPlace<Ring::kStages> place() const { return to_; }

  // Until the next group's stage may be written.
  __device__ __forceinline__ void wait() const { ptx::wait(&ring_.empty[to_.stage], to_.parity); }
  // The next group's piece `p`, of kPieces.
  __device__ __forceinline__ void copy(int p) const {
    const bool of_a = p < kOfA;
    const int of_operand = of_a ? p : p - kOfA;
    ptx::cp_async<16>(ring_.stage[to_.stage] + own_ + p * kLines * Ring::kLineBytes,
                      (of_a ? from_a_ : from_b_) +
                          std::uint64_t{groups_} * (of_operand * kLines * Ring::kLineBytes),
                      of_operand * kLines < (of_a ? rows_ : columns_) ? 16 : 0);
  }
  // All its pieces have been asked for.
  __device__ __forceinline__ void arrive() {
    ptx::cp_async_arrive(&ring_.full[to_.stage]);
    to_.advance();
    from_a_ += Ring::kLineBytes;
    from_b_ += Ring::kLineBytes;
  }

 private:
  __device__ __forceinline__ static int within(std::int64_t lines) {
    constexpr int kMost = kBlockM + kBlockN;
    return lines < kMost ? static_cast<int>(lines) : kMost;
  }

  RingPlace<Ring::kStages> to_;
  int own_, rows_, columns_;  // own_: the place of piece 0 in a stage
  unsigned groups_;           // of a line
  const unsigned char *from_a_, *from_b_;
  Ring& ring_;
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
