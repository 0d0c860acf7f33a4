#pragma once
// A block's tile of a product by warps. Pairs of A and B come through a ring of copies. A warp
// loads its rows and columns as matrices (ldmatrix) and multiplies them (mma.sync).

#include "ops/sgemm/tensor/warp_config.hpp"
#include "parts/float_pairs.hpp"
#include "parts/ptx/ldmatrix.hpp"
#include "parts/ptx/mma.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A warp's sums: of rows 16·i + lane/4 + 8·h and columns 8·j + 2·(lane%4) + e, sums[i][j][2·h + e].
template <class Config>
struct WarpSums {
  static constexpr int kRows = Config::value.warp_m() / 16, kColumns = Config::value.warp_n() / 8;
  float sums[kRows][kColumns][4];
};

// Where the warp's part of the block's tile begins.
template <class Config>
__device__ __forceinline__ TileOrigin warp_origin() {
  const int warp = threadIdx.x / 32;
  return {warp / Config::value.warps_n * Config::value.warp_m(),
          warp % Config::value.warps_n * Config::value.warp_n()};
}

// The factors that a warp multiplies, of a group. Of all of its rows of A these are the halves hi
// and lo of two steps of 32 bytes along k. Of eight columns of B they are both halves of both
// steps.
template <class Pairs, class Config>
class WarpFactorsOf {
 public:
  static constexpr int kRows = WarpSums<Config>::kRows, kColumns = WarpSums<Config>::kColumns;
  using Columns = unsigned[2][4];  // hi and lo; words 2·step and 2·step + 1

  __device__ __forceinline__ WarpFactorsOf() {
    const int lane = threadIdx.x % 32;
    const TileOrigin own = warp_origin<Config>();
    // Lanes name rows of 16 bytes: of A 16 rows, two pieces; of B eight columns, four pieces.
    a_ = static_cast<unsigned>(own.row + lane % 16) * 128 + ((lane / 16 ^ lane % 8) << 4);
    b_ = static_cast<unsigned>(own.column + lane % 8) * 128 + ((lane / 8 ^ lane % 8) << 4) +
         Config::Ring::kABytes;
  }
  // hi or lo of the rows, from the stage at this address.
  template <bool kLo>
  __device__ __forceinline__ void load_rows(unsigned stage) {
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step < 2; ++step) {
      // A stage begins at a multiple of 128 bytes: the piece's place is flipped in the address.
      const unsigned at = (stage + a_) ^ static_cast<unsigned>(kLo * 64 + step * 32);
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kRows; ++i) {
        ptx::load_matrices(kLo ? lo_[step][i] : hi_[step][i], at + i * 2048u);
      }
    }
  }
  __device__ __forceinline__ void load_columns(unsigned stage, int j, Columns& to) const {
    ptx::load_matrices(to[0], stage + b_ + j * 1024u);
    ptx::load_matrices(to[1], ((stage + b_) ^ 64u) + j * 1024u);
  }
  // part (+)= rows · columns, of hi or lo of each, for both steps.
  template <bool kLoRows, bool kLoColumns, bool kAdds>
  __device__ __forceinline__ void multiply(const Columns& columns, float (&part)[kRows][4]) const {
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step < 2; ++step) {
      const unsigned b[2] = {columns[kLoColumns][2 * step], columns[kLoColumns][2 * step + 1]};
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kRows; ++i) {
        const auto& a = kLoRows ? lo_[step][i] : hi_[step][i];
        step == 0 ? multiply_one<kAdds>(part[i], a, b) : multiply_one<true>(part[i], a, b);
      }
    }
  }

 private:
  template <bool kAdds>
  __device__ __forceinline__ static void multiply_one(float (&sums)[4], const unsigned (&a)[4],
                                                      const unsigned (&b)[2]) {
    if constexpr (Pairs::kNeedsLeast) {
      ptx::mma_tf32<kAdds>(sums, a, b);
    } else {
      ptx::mma_f16<kAdds>(sums, a, b);
    }
  }

  unsigned a_, b_;  // places in a stage
  unsigned hi_[2][kRows][4], lo_[2][kRows][4];
};

// Of `groups` groups, which `copies` brings: the products, added to `sums`. The tensor cores' adder
// truncates, so it adds up one group, from zero, the small products first; FP32 additions do the
// rest (promotion). `from` is where the ring's reader is. Called by all threads of the block.
template <class Pairs, class Config>
__device__ __forceinline__ void multiply_groups(typename Config::Ring& ring,
                                                parts::RingPlace<Config::value.stages>& from,
                                                typename Config::Copies& copies, int groups,
                                                WarpSums<Config>& tile) {
  using Factors = WarpFactorsOf<Pairs, Config>;
  constexpr int kColumns = Factors::kColumns, kPieces = Config::Copies::kPieces,
                kAhead = Config::value.stages - 2;  // a warp may be a group behind the others
  const unsigned stages = ptx::shared_address(ring.stage);
  const auto address = [&](int stage) { return stages + stage * Config::Ring::kStageBytes; };
  for (int group = 0; group < kAhead && group < groups; ++group) {
    copies.wait();
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPieces; ++p) copies.copy(p);
    copies.arrive();
  }
  Factors factors;
  typename Factors::Columns columns[2];
  ptx::wait(&ring.full[from.stage], from.parity);
  factors.template load_rows<true>(address(from.stage));
  factors.template load_rows<false>(address(from.stage));
  factors.load_columns(address(from.stage), 0, columns[0]);
  WARPLADDER_NO_UNROLL
  for (int left = groups; left > 0; --left) {
    const bool copies_now = left > kAhead, goes_on = left > 1;
    auto next = from;
    if (goes_on) next.advance();
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < kColumns; ++j) {
      const bool last = j == kColumns - 1;  // the next group's factors take the registers
      if (last && goes_on) ptx::wait(&ring.full[next.stage], next.parity);
      factors.load_columns(address(last ? next.stage : from.stage), last ? 0 : j + 1,
                           columns[(j + 1) % 2]);
      float part[Factors::kRows][4];
      factors.template multiply<true, false, false>(columns[j % 2], part);
      if (last) factors.template load_rows<true>(address(next.stage));
      factors.template multiply<false, true, true>(columns[j % 2], part);
      factors.template multiply<false, false, true>(columns[j % 2], part);
      if (last) factors.template load_rows<false>(address(next.stage));
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < Factors::kRows; ++i) {
        WARPLADDER_UNROLL_ON_GPU
        for (int e = 0; e < 4; ++e) tile.sums[i][j][e] += part[i][e];
      }
      if (j == 0 && copies_now) copies.wait();
      if (!last && copies_now) {
        constexpr int kTurns = kColumns - 1;
        WARPLADDER_UNROLL_ON_GPU
        for (int p = j * kPieces / kTurns; p < (j + 1) * kPieces / kTurns; ++p) copies.copy(p);
      }
      if (j == kColumns - 2 && copies_now) copies.arrive();
    }
    __syncwarp();  // all lanes have read the stage
    if (threadIdx.x % 32 == 0) ptx::arrive(&ring.empty[from.stage]);
    from.advance();
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
