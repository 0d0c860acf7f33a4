#pragma once
// Tiles of FP32 operands on their way into the tensor cores as three bfloat16 terms (parts/
// bfloat_terms.hpp). Both operands are seen as lines along k (rung_sliced.hpp): X's, of which there
// are fewer, and Y's. Y's terms go from registers into the tensor cores, each element split once;
// X's by way of shared memory.

#include "ops/sgemm/rung_sliced.hpp"
#include "ops/sgemm/tensor/term_slices.hpp"
#include "parts/bfloat_terms.hpp"
#include "parts/ptx/opaque.hpp"
#include "parts/ptx/tma.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Where piece `piece`, four neighbours in memory, of row `row` lies in a tile of kLines×kDepth. The
// places are XORed so that threads whose rows differ as those of a fragment do, or by one, read
// from different banks.
template <int kLines, int kDepth, bool kAlong>
__device__ __forceinline__ unsigned term_place(unsigned row, unsigned piece) {
  if constexpr (kAlong) {  // a row is a line
    static_assert(kDepth == 32);
    return row * kDepth + (piece ^ ((row & 2) << 1 | (row & 4) >> 1 | (row & 1))) * 4;
  } else {  // a row is one of k
    return row * kLines + (piece ^ row / 4 % 4 * 2) * 4;
  }
}

// A thread's share of the copies of a tile, round after round of kDepth of k.
template <int kLines, int kDepth, int kThreads, bool kAlong>
class TermCopier {
 public:
  __device__ __forceinline__ TermCopier(const LineOperand& x, std::int64_t line0, std::int64_t k0) {
    const std::int64_t left = x.lines - line0;
    lines_ = left < kLines ? static_cast<int>(left) : kLines;
    from_ =
        x.data + (kAlong ? (line0 + row()) * x.ld + k0 : (k0 + row()) * x.ld + line0) + piece() * 4;
  }
  // Zeros are laid down behind `k_left` of k, and where there is no line.
  __device__ __forceinline__ void copy_next(float* to, const LineOperand& x, int k_left) {
    const int rows = kAlong ? lines_ : k_left,
              count = (kAlong ? k_left : lines_) - static_cast<int>(piece() * 4);
    std::int64_t step = kRows * x.ld;
    unsigned first = row();
    ptx::make_opaque(step);
    ptx::make_opaque(first);
    const float* from = from_;
    WARPLADDER_UNROLL
    for (int i = 0; i < (kPieces + kThreads - 1) / kThreads; ++i) {
      if (kPieces < kThreads && static_cast<int>(threadIdx.x) >= kPieces) break;
      const unsigned at = first + i * kRows;
      copy_piece(to + term_place<kLines, kDepth, kAlong>(at, piece()), x, from,
                 static_cast<int>(at) < rows ? count : 0);
      from += step;
    }
    from_ += kAlong ? kDepth : kDepth * x.ld;
  }

 private:
  static constexpr int kRow = (kAlong ? kDepth : kLines) / 4, kRows = kThreads / kRow,
                       kPieces = kLines * kDepth / 4;
  static_assert(kThreads % kRow == 0 && (kPieces % kThreads == 0 || kPieces < kThreads));
  __device__ __forceinline__ static unsigned row() { return threadIdx.x / kRow; }
  __device__ __forceinline__ static unsigned piece() { return threadIdx.x % kRow; }
  const float* from_;
  int lines_;
};

// X's tile in terms: for each 16 of k a tile that a descriptor names.
template <class C>
struct TermTile {
  unsigned char steps[C::depth / parts::kTermDepth][C::tile_x * parts::kTermLine];
};

// All threads: X's raw tile into its terms.
template <class C, bool kAlong>
__device__ __forceinline__ void split_tile(TermTile<C>& to, const float* raw, unsigned& lost) {
  constexpr int kUnits = C::tile_x * C::depth / 8;  // eight elements of a line, one half of 16
  unsigned first = threadIdx.x;
  ptx::make_opaque(first);
  WARPLADDER_UNROLL
  for (int i = 0; i < (kUnits + C::threads - 1) / C::threads; ++i) {
    const unsigned unit = first + i * C::threads;
    if (kUnits % C::threads != 0 && unit >= kUnits) break;
    const unsigned line = unit % C::tile_x, half = unit / C::tile_x % 2,
                   step = unit / C::tile_x / 2;
    unsigned word[parts::kTerms][4];
    WARPLADDER_UNROLL
    for (int t = 0; t < 4; ++t) {
      float low, high;
      if constexpr (kAlong) {
        const auto two = *reinterpret_cast<const float2*>(
            raw + term_place<C::tile_x, C::depth, true>(line, step * 4 + t) + 2 * half);
        low = two.x;
        high = two.y;
      } else {
        const unsigned k = step * 16 + 4 * t + 2 * half;
        const float* const from =
            raw + term_place<C::tile_x, C::depth, false>(k, line / 4) + line % 4;
        low = from[0];
        high = from[C::tile_x];
      }
      parts::split_two(low, high, word[0][t], word[1][t], word[2][t], lost);
    }
    WARPLADDER_UNROLL
    for (int term = 0; term < parts::kTerms; ++term) {
      const unsigned piece = (term * 2 + half) ^ line % 8;
      *reinterpret_cast<uint4*>(to.steps[step] + line * parts::kTermLine + piece * 16) =
          make_uint4(word[term][0], word[term][1], word[term][2], word[term][3]);
    }
  }
}

// A thread's two lines of its warp's 16 of Y, neighbours: rows g and g + 8 of the fragment.
__device__ __forceinline__ unsigned fragment_line() {
  return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 * 2;
}

// A thread's terms of Y's raw tile, at step·16 of its depth.
template <class C, bool kAlong>
__device__ __forceinline__ void split_fragment(unsigned (&a)[parts::kTerms][4], const float* raw,
                                               int step, unsigned& lost) {
  unsigned line = fragment_line();
  const unsigned t = threadIdx.x % 4;
  ptx::make_opaque(line);
  float value[2][4];  // of each line
  if constexpr (kAlong) {
    WARPLADDER_UNROLL
    for (int i = 0; i < 2; ++i) {
      parts::load4(value[i], raw + term_place<C::tile_y, C::depth, true>(line + i, step * 4 + t));
    }
  } else {
    WARPLADDER_UNROLL
    for (int j = 0; j < 4; ++j) {
      const unsigned k = step * 16 + 4 * t + j;
      const auto two = *reinterpret_cast<const float2*>(
          raw + term_place<C::tile_y, C::depth, false>(k, line / 4) + line % 4);
      value[0][j] = two.x;
      value[1][j] = two.y;
    }
  }
  WARPLADDER_UNROLL
  for (int w = 0; w < 4; ++w) {
    const float(&of)[4] = value[w % 2];
    parts::split_two(of[w / 2 * 2], of[w / 2 * 2 + 1], a[0][w], a[1][w], a[2][w], lost);
  }
}

template <class C>
struct TermShared {
  static constexpr int pitch = C::tile_y + 4;
  struct Ring {
    TermTile<C> terms[2];
    struct {
      float x[C::tile_x * C::depth], y[C::tile_y * C::depth];
    } stage[C::stages];
  };
  union {
    Ring ring;
    float sums[C::tile_x][pitch];  // once all is multiplied
  };
  unsigned lost[C::warps], most[2][C::warps];
};

// Waits for the products, and adds them to `sum`.
template <int count>
__device__ __forceinline__ void promote(float (&sum)[count], float (&part)[count]) {
  ptx::wgmma_wait<0>();
  ptx::pin(part);
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < count; ++i) sum[i] += part[i];
}

// Adds the slice's products to `sum`, a thread's sums as parts/ptx/wgmma.hpp deals them out, Y's
// lines as the rows. Products of 16 of k are added up by the tensor cores, which truncate, these
// sums by FP32 additions. While a round's second 16 are multiplied, the next round is split.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void add_terms(float (&sum)[C::tile_x / 2], TermShared<C>& shared,
                                          const SlicedGemm& g, const SlicedTile& tile,
                                          unsigned& lost) {
  static_assert(C::depth == 2 * parts::kTermDepth);
  auto& ring = shared.ring;
  const std::int64_t k0 = std::int64_t{tile.first} * C::depth;
  TermCopier<C::tile_x, C::depth, C::threads, kXAlong> copier_x(g.x, tile.x0, k0);
  TermCopier<C::tile_y, C::depth, C::threads, kYAlong> copier_y(g.y, tile.y0, k0);
  const std::int64_t k_end = std::int64_t{tile.end} * C::depth;
  const int rounds = tile.end - tile.first,
            depth = static_cast<int>((k_end < g.k ? k_end : g.k) - k0);
  const auto copy = [&](int round, int stage) {
    if (round < rounds) {
      copier_x.copy_next(ring.stage[stage].x, g.x, depth - round * C::depth);
      copier_y.copy_next(ring.stage[stage].y, g.y, depth - round * C::depth);
    }
    ptx::cp_async_commit();
  };
  WARPLADDER_UNROLL
  for (int ahead = 0; ahead < C::stages - 1; ++ahead) copy(ahead, ahead);
  ptx::cp_async_wait<C::stages - 2>();
  __syncthreads();  // the first round is there for all
  unsigned a[parts::kTerms][4], b[parts::kTerms][4];
  const auto split_x = [&](int round, int stage) {
    split_tile<C, kXAlong>(ring.terms[round % 2], ring.stage[stage].x, lost);
    ptx::fence_async_proxy_of_shared();
  };
  const auto split_first_of_y = [&](int stage) {
    split_fragment<C, kYAlong>(a, ring.stage[stage].y, 0, lost);
  };
  if (rounds > 0) {
    split_x(0, 0);
    split_first_of_y(0);
  }
  int stage = 0;
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < rounds; ++round) {
    ptx::cp_async_wait<C::stages - 3>();
    // The round's terms and the next round's numbers are there for all, and the stage to be filled
    // is read no more. The products of the round before have ended.
    __syncthreads();
    copy(round + C::stages - 1, stage == 0 ? C::stages - 1 : stage - 1);
    const TermTile<C>& terms = ring.terms[round % 2];
    float part[C::tile_x / 2];
    const auto multiply = [&](const unsigned(&of_y)[parts::kTerms][4], int step) {
      ptx::wgmma_fence();
      parts::multiply_terms(part, of_y, ptx::tile_descriptor(terms.steps[step]));
      ptx::wgmma_commit();
    };
    multiply(a, 0);
    split_fragment<C, kYAlong>(b, ring.stage[stage].y, 1, lost);
    promote(sum, part);
    multiply(b, 1);
    stage = stage + 1 == C::stages ? 0 : stage + 1;
    const bool more = round + 1 < rounds;
    if (more) split_x(round + 1, stage);
    if (more) split_first_of_y(stage);
    promote(sum, part);
  }
  ptx::cp_async_wait<0>();
}

// Lays a thread's sums down.
template <class C>
__device__ __forceinline__ void lay_down_terms(TermShared<C>& shared,
                                               const float (&sum)[C::tile_x / 2]) {
  const unsigned y = fragment_line(), x = threadIdx.x % 4 * 2;
  WARPLADDER_UNROLL
  for (int j = 0; j < C::tile_x / 8; ++j) {
    WARPLADDER_UNROLL
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<float2*>(&shared.sums[8 * j + x + i][y]) =
          make_float2(sum[4 * j + i], sum[4 * j + 2 + i]);
    }
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
