#pragma once
// Tiles of FP32 operands on their way into the tensor cores as three bfloat16 terms (parts/
// bfloat_terms.hpp). Both operands are seen as lines along k (rung_sliced.hpp): X's, of which there
// are fewer, and Y's. A warpgroup, the producers, has both copied to a ring of stages, and lays
// down X's terms there. The consumers split Y on its way from shared memory to registers, each
// element once, and multiply.

#include "ops/sgemm/rung_sliced.hpp"
#include "ops/sgemm/tensor/term_slices.hpp"
#include "parts/bfloat_terms.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ptx/named_barrier.hpp"
#include "parts/ptx/opaque.hpp"
#include "parts/ptx/register_share.hpp"
#include "parts/ptx/tma.hpp"
#include "parts/ring_place.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Where piece `piece`, four neighbours in memory, of row `row` lies in a tile of kLines×kDepth. A
// row is a line (kAlong) or one of k. The places are XORed so that threads read from different
// banks: in the tile of Y, those whose rows differ as a fragment's do; in X's, those of eight
// lines.
template <int kLines, int kDepth, bool kAlong, bool kOfX>
struct TermPlaces {
  __device__ __forceinline__ static int at(int row, int piece) {
    if constexpr (kAlong) {
      static_assert(kDepth == 32);
      return row * kDepth + (piece ^ ((row & 2) << 1 | (row & 4) >> 1 | (row & 1))) * 4;
    } else {
      return row * kLines + (piece ^ row / (kOfX ? 8 : 4) % 4 * 2) * 4;
    }
  }
};

// X's tile in terms: for each 16 of k a tile that a descriptor names.
template <class C>
struct TermTile {
  unsigned char steps[C::depth / parts::kTermDepth][C::tile_x * parts::kTermLine];
};

// A round's copies are made `ahead` rounds before its X is split, which the consumers read a round
// later.
template <class C>
struct TermShared {
  static constexpr int pitch = C::tile_y + 4, ahead = C::stages - 2;
  struct Ring {
    TermTile<C> terms[2];
    float y[C::stages][C::tile_y * C::depth], x[ahead + 1][C::tile_x * C::depth];
  };
  union {
    Ring ring;
    float sums[C::tile_x][pitch];  // once all is multiplied
  };
  ptx::Barrier full[C::stages];   // a round's terms of X, and its Y, are there
  ptx::Barrier empty[C::stages];  // the consumers have done with them
  unsigned lost[C::threads / 32], most[2][C::warps];

  // Called by all threads; a barrier of all follows.
  __device__ __forceinline__ void init() {
    if (threadIdx.x < C::threads / 32) lost[threadIdx.x] = 0;
    if (threadIdx.x > 0) return;
    for (int s = 0; s < C::stages; ++s) {
      ptx::barrier_init(&full[s], C::producers);
      ptx::barrier_init(&empty[s], C::consumers);
    }
    ptx::fence_barrier_init();
  }
};

// Whether any lane of the warp has lost something, for all to read.
template <class C>
__device__ __forceinline__ void report_lost(TermShared<C>& shared, unsigned lost) {
  const bool of_warp = __any_sync(0xffffffffu, parts::has_lost(lost));
  if (threadIdx.x % 32 == 0) shared.lost[threadIdx.x / 32] = of_warp;
}

// What a slice multiplies.
struct TermDepth {
  std::int64_t k0;
  int rounds, depth;
};
template <class C>
__device__ __forceinline__ TermDepth term_depth(const SlicedGemm& g, const SlicedTile& tile) {
  const std::int64_t k0 = std::int64_t{tile.first} * C::depth,
                     k_end = std::int64_t{tile.end} * C::depth;
  return {k0, tile.end - tile.first, static_cast<int>((k_end < g.k ? k_end : g.k) - k0)};
}

// The producers: X's tile into its terms. Of each eight lines and C::depth of k, a lane has eight
// neighbours along k of a line.
template <class C, bool kAlong>
__device__ __forceinline__ void split_tile(TermTile<C>& to, const float* raw, unsigned& lost) {
  using Places = TermPlaces<C::tile_x, C::depth, kAlong, true>;
  constexpr int kStep = C::producers / 4;
  static_assert(C::depth == 32 && (C::tile_x % kStep == 0 || C::tile_x == kStep / 2));
  if (C::tile_x < kStep && static_cast<int>(threadIdx.x) % C::producers >= 4 * C::tile_x) return;
  const int octet = threadIdx.x % 32 / 8,
            line = threadIdx.x % C::producers / 32 * 8 + threadIdx.x % 8;
  unsigned char* const row =
      to.steps[octet / 2] + line * parts::kTermLine + octet % 2 * sizeof(uint2);
  WARPLADDER_UNROLL
  for (int i = 0; i < C::tile_x; i += kStep) {
    float value[8];
    if constexpr (kAlong) {
      parts::load4(&value[0], raw + Places::at(line, 2 * octet) + i * C::depth);
      parts::load4(&value[4], raw + Places::at(line, 2 * octet + 1) + i * C::depth);
    } else {
      const float* const from = raw + Places::at(8 * octet, (i + line) / 4) + line % 4;
      WARPLADDER_UNROLL
      for (int j = 0; j < 8; ++j) value[j] = from[j * C::tile_x];
    }
    WARPLADDER_UNROLL
    for (int half = 0; half < 2; ++half) {
      uint2 word[parts::kTerms];
      const float *const low = &value[2 * half], *const high = low + 4;
      parts::split_two(low[0], low[1], word[0].x, word[1].x, word[2].x, lost);
      parts::split_two(high[0], high[1], word[0].y, word[1].y, word[2].y, lost);
      WARPLADDER_UNROLL
      for (int term = 0; term < parts::kTerms; ++term) {
        const int piece = (term * 2 + half) ^ line % 8;
        *reinterpret_cast<uint2*>(row + i * parts::kTermLine + piece * sizeof(uint4)) = word[term];
      }
    }
  }
}

// The producers' copies of an operand, round after round.
template <class C, int kLines, bool kAlong, bool kOfX>
class TermCopier {
 public:
  __device__ __forceinline__ TermCopier(const LineOperand& x, std::int64_t line0, std::int64_t k0)
      : from_(x.data + (kAlong ? line0 * x.ld + k0 : k0 * x.ld + line0)),
        lines_(x.lines - line0 < kLines ? static_cast<int>(x.lines - line0) : kLines) {}
  // Of the next C::depth of k, `left` or more exist.
  __device__ __forceinline__ void copy_next(float* to, const LineOperand& x, int left) {
    using Copier = PieceCopier<TermPlaces<kLines, C::depth, kAlong, kOfX>, kLines, C::depth,
                               C::producers, kAlong, true>;
    const int depths = left < C::depth ? left : C::depth;
    if (x.vectors && lines_ == kLines && left >= C::depth) {
      Copier::template copy<4, true>(to, from_, x.ld, kLines, C::depth);
    } else {
      x.vectors ? Copier::template copy<4>(to, from_, x.ld, lines_, depths)
                : Copier::template copy<1>(to, from_, x.ld, lines_, depths);
    }
    from_ += kAlong ? C::depth : C::depth * x.ld;
  }

 private:
  const float* from_;
  int lines_;
};

// The producers' rounds of a slice.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void produce_terms(TermShared<C>& shared, const SlicedGemm& g,
                                              const SlicedTile& tile) {
  constexpr int kAhead = TermShared<C>::ahead;
  auto& ring = shared.ring;
  const TermDepth slice = term_depth<C>(g, tile);
  TermCopier<C, C::tile_x, kXAlong, true> copier_x(g.x, tile.x0, slice.k0);
  TermCopier<C, C::tile_y, kYAlong, false> copier_y(g.y, tile.y0, slice.k0);
  parts::RingPlace<C::stages> filled, split, read;
  parts::RingPlace<kAhead + 1> raw, raw_split;
  unsigned lost = 0;
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < slice.rounds + kAhead; ++round) {
    if (round >= kAhead) {
      ptx::cp_async_wait<kAhead - 1>();
      // The round's copies are there for all, and the X before it is read no more.
      ptx::named_barrier_together<2, C::producers>();
    }
    if (round < slice.rounds) {
      ptx::wait(&shared.empty[filled.stage], filled.parity ^ 1);
      const int left = slice.depth - round * C::depth;
      copier_x.copy_next(ring.x[raw.stage], g.x, left);
      copier_y.copy_next(ring.y[filled.stage], g.y, left);
      filled.advance();
      raw.advance();
    }
    ptx::cp_async_commit();
    if (round < kAhead) continue;
    if (round >= kAhead + 2) {  // these terms' place: the consumers have read the last but one
      ptx::wait(&shared.empty[read.stage], read.parity);
      read.advance();
    }
    split_tile<C, kXAlong>(ring.terms[(round - kAhead) % 2], ring.x[raw_split.stage], lost);
    ptx::fence_async_proxy_of_shared();
    if (round + 1 == slice.rounds + kAhead) report_lost<C>(shared, lost);
    ptx::arrive(&shared.full[split.stage]);
    split.advance();
    raw_split.advance();
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
      parts::load4(value[i],
                   raw + TermPlaces<C::tile_y, C::depth, true, false>::at(line + i, step * 4 + t));
    }
  } else {
    WARPLADDER_UNROLL
    for (int j = 0; j < 4; ++j) {
      const unsigned k = step * 16 + 4 * t + j;
      const auto two = *reinterpret_cast<const float2*>(
          raw + TermPlaces<C::tile_y, C::depth, false, false>::at(k, line / 4) + line % 4);
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

// Waits for the products, and adds them to `sum`.
template <int count>
__device__ __forceinline__ void promote(float (&sum)[count], float (&part)[count]) {
  ptx::wgmma_wait<0>();
  ptx::pin(part);
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < count; ++i) sum[i] += part[i];
}

// Adds the slice's products to `sum`, a consumer's sums as parts/ptx/wgmma.hpp deals them out, Y's
// lines as the rows. Products of 16 of k are added up by the tensor cores, which truncate, these
// sums by FP32 additions. While 16 are multiplied, the next 16 are split.
template <class C, bool kYAlong>
__device__ __forceinline__ void add_terms(float (&sum)[C::tile_x / 2], TermShared<C>& shared,
                                          int rounds, unsigned& lost) {
  static_assert(C::depth == 2 * parts::kTermDepth);
  parts::RingPlace<C::stages> place;
  unsigned a[parts::kTerms][4], b[parts::kTerms][4];
  const auto split = [&](unsigned(&to)[parts::kTerms][4], int step) {
    split_fragment<C, kYAlong>(to, shared.ring.y[place.stage], step, lost);
  };
  const auto split_first = [&] {
    ptx::wait(&shared.full[place.stage], place.parity);
    split(a, 0);
  };
  if (rounds > 0) split_first();
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const int stage = place.stage;
    const TermTile<C>& terms = shared.ring.terms[round % 2];
    float part[C::tile_x / 2];
    const auto multiply = [&](const unsigned(&of_y)[parts::kTerms][4], int step) {
      ptx::wgmma_fence();
      parts::multiply_terms(part, of_y, ptx::tile_descriptor(terms.steps[step]));
      ptx::wgmma_commit();
    };
    multiply(a, 0);
    split(b, 1);
    promote(sum, part);
    multiply(b, 1);
    place.advance();
    if (round + 1 < rounds) split_first();
    promote(sum, part);
    ptx::arrive(&shared.empty[stage]);
  }
}

template <class C>
__device__ __forceinline__ void sync_consumers() {
  ptx::named_barrier_together<1, C::consumers>();
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
