#pragma once
// Tiles of FP32 operands on their way into the tensor cores as three bfloat16 terms (parts/
// bfloat_terms.hpp). Both operands are seen as lines along k (rung_sliced.hpp): X's, of which there
// are fewer, and Y's. A warpgroup, the producers, has both copied to a ring of stages, and lays
// down X's terms there. The consumers split Y on its way from shared memory to registers, each
// element once, and multiply.

#include <bit>

#include "ops/sgemm/rung_sliced.hpp"
#include "ops/sgemm/tensor/term_shifts.hpp"
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
// banks. In the tile of Y these are threads whose rows differ as a fragment's do; in X's, those of
// eight lines.
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

// Lines that have a place in a raw tile: a power of two, so that threads part its rows evenly.
constexpr int raw_lines(int lines) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(lines)));
}

// How many words a raw tile takes.
template <class C>
constexpr int raw_words(int lines) {
  return C::shifted ? shifted_words(lines, C::depth) : lines * C::depth;
}

// X's tile in terms: for each 16 of k a tile that a descriptor names.
template <class C>
struct TermTile {
  unsigned char steps[C::depth / parts::kTermDepth][C::tile_x * parts::kTermLine];
};

// A round's copies are made `ahead` rounds before its X is split, which the consumers read a round
// later.
template <class C>
struct TermShared {
  static constexpr int pitch = C::tile_y + 4, ahead = C::stages - 2, raw_x = raw_lines(C::tile_x);
  struct Ring {
    TermTile<C> terms[2];
    float y[C::stages][raw_words<C>(C::tile_y)], x[ahead + 1][raw_words<C>(raw_x)];
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
  // Called as init() is: zeros for lines that are never copied. `whole`: there are none.
  __device__ __forceinline__ void clear(bool whole) {
    constexpr int kPieces = (sizeof ring.y + sizeof ring.x) / sizeof(float4);
    auto* const pieces = reinterpret_cast<float4*>(ring.y);
    for (int i = threadIdx.x; !whole && i < kPieces; i += C::threads) {
      pieces[i] = make_float4(0, 0, 0, 0);
    }
  }
};

// Whether any lane of the warp has lost something, for all to read.
template <class Shared>
__device__ __forceinline__ void report_lost(Shared& shared, unsigned lost) {
  const bool of_warp = __any_sync(0xffffffffu, parts::has_lost(lost));
  if (threadIdx.x % 32 == 0 && of_warp) shared.lost[threadIdx.x / 32] = 1;
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

// The terms of eight neighbours along k of a line: put(term, half, its two words) for both halves
// of the order in which the tensor cores take them.
template <class Put>
__device__ __forceinline__ void split_octet(const float (&value)[8], unsigned& lost,
                                            const Put& put) {
  WARPLADDER_UNROLL_ON_GPU
  for (int half = 0; half < 2; ++half) {
    uint2 word[parts::kTerms];
    const float *const low = &value[2 * half], *const high = low + 4;
    parts::split_two(low[0], low[1], word[0].x, word[1].x, word[2].x, lost);
    parts::split_two(high[0], high[1], word[0].y, word[1].y, word[2].y, lost);
    WARPLADDER_UNROLL_ON_GPU
    for (int term = 0; term < parts::kTerms; ++term) put(term, half, word[term]);
  }
}

// The producers: X's tile into its terms. Of each eight lines and C::depth of k, a lane has eight
// neighbours along k of a line.
template <class C, bool kAlong>
__device__ __forceinline__ void split_tile(TermTile<C>& to, const float* raw,
                                           const RowShifts& shifts, unsigned& lost) {
  constexpr int kRaw = raw_lines(C::tile_x);
  using Places = TermPlaces<kRaw, C::depth, kAlong, true>;
  constexpr int kStep = C::producers / 4;
  static_assert(C::depth == 32 && (C::tile_x % kStep == 0 || C::tile_x == kStep / 2));
  if (C::tile_x < kStep && static_cast<int>(threadIdx.x) % C::producers >= 4 * C::tile_x) return;
  const int octet = threadIdx.x % 32 / 8,
            line = threadIdx.x % C::producers / 32 * 8 + threadIdx.x % 8;
  unsigned char* const row =
      to.steps[octet / 2] + line * parts::kTermLine + octet % 2 * sizeof(uint2);
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < C::tile_x; i += kStep) {
    float value[8];
    if constexpr (C::shifted) {
      load_shifted<kRaw, C::depth, kAlong>(value, raw, line, i, 8 * octet, shifts);
    } else if constexpr (kAlong) {
      parts::load4(&value[0], raw + Places::at(line, 2 * octet) + i * C::depth);
      parts::load4(&value[4], raw + Places::at(line, 2 * octet + 1) + i * C::depth);
    } else {
      const float* const from = raw + Places::at(8 * octet, (i + line) / 4) + line % 4;
      WARPLADDER_UNROLL_ON_GPU
      for (int j = 0; j < 8; ++j) value[j] = from[j * kRaw];
    }
    split_octet(value, lost, [&](int term, int half, uint2 words) {
      const int piece = (term * 2 + half) ^ line % 8;
      *reinterpret_cast<uint2*>(row + i * parts::kTermLine + piece * sizeof(uint4)) = words;
    });
  }
}

// The producers' copies of an operand, round after round. kZeros: lines that do not exist become
// zeros.
template <class C, int kLines, bool kAlong, bool kOfX, bool kZeros = true>
class TermCopier {
 public:
  __device__ __forceinline__ TermCopier(const LineOperand& x, std::int64_t line0, std::int64_t k0)
      : from_(x.data + (kAlong ? line0 * x.ld + k0 : k0 * x.ld + line0)),
        lines_(x.lines - line0 < kLines ? static_cast<int>(x.lines - line0) : kLines) {}
  // Of the next C::depth of k, `left` or more exist.
  __device__ __forceinline__ void copy_next(float* to, const LineOperand& x, int left) {
    constexpr int kRaw = raw_lines(kLines);
    using Copier = PieceCopier<TermPlaces<kRaw, C::depth, kAlong, kOfX>, kRaw, C::depth,
                               C::producers, kAlong, kZeros>;
    const int depths = left < C::depth ? left : C::depth;
    if (x.vectors && lines_ == kRaw && left >= C::depth) {
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

template <class C, int kLines, bool kAlong, bool kOfX, bool kZeros = true>
using CopierOf = std::conditional_t<C::shifted, ShiftedCopier<C, raw_lines(kLines), kAlong>,
                                    TermCopier<C, kLines, kAlong, kOfX, kZeros>>;

// The producers' rounds: copy_next(x, y) has the next round's operands copied, tile after tile of
// `rounds` each, and returns the shift of X's first row. Rows differ by `step` words.
template <class C, bool kXAlong, class CopyNext>
__device__ __forceinline__ void produce_terms(TermShared<C>& shared, std::int64_t all_rounds,
                                              int rounds, unsigned step,
                                              const CopyNext& copy_next) {
  constexpr int kAhead = TermShared<C>::ahead;
  auto& ring = shared.ring;
  parts::RingPlace<C::stages> filled, split, read;
  parts::RingPlace<kAhead + 1> raw, raw_split;
  unsigned lost = 0;
  unsigned shifts = 0;  // two bits for each round that is under way, the latest one's are the last
  int of_tile = 0, terms = 0;
  WARPLADDER_NO_UNROLL
  for (std::int64_t round = -kAhead; round < all_rounds; ++round) {
    if (round >= 0) {
      ptx::cp_async_wait<kAhead - 1>();
      // The round's copies are there for all, and the X before it is read no more.
      ptx::named_barrier_together<2, C::producers>();
    }
    shifts <<= 2;
    if (round + kAhead < all_rounds) {
      ptx::wait(&shared.empty[filled.stage], filled.parity ^ 1);
      shifts |= copy_next(ring.x[raw.stage], ring.y[filled.stage]);
      filled.advance();
      raw.advance();
    }
    ptx::cp_async_commit();
    if (round < 0) continue;
    if (round >= 2) {  // these terms' place: the consumers have read the last but one
      ptx::wait(&shared.empty[read.stage], read.parity);
      read.advance();
    }
    split_tile<C, kXAlong>(ring.terms[terms], ring.x[raw_split.stage],
                           {shifts >> 2 * kAhead & 3, step}, lost);
    terms ^= 1;
    ptx::fence_async_proxy_of_shared();
    if (++of_tile == rounds) {
      report_lost(shared, lost);
      of_tile = 0;
    }
    ptx::arrive(&shared.full[split.stage]);
    split.advance();
    raw_split.advance();
  }
}

// Of a slice.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void produce_slice(TermShared<C>& shared, const SlicedGemm& g,
                                              const SlicedTile& tile) {
  const TermDepth slice = term_depth<C>(g, tile);
  CopierOf<C, C::tile_x, kXAlong, true> copier_x(g.x, tile.x0, slice.k0);
  CopierOf<C, C::tile_y, kYAlong, false> copier_y(g.y, tile.y0, slice.k0);
  const RowShifts shifts = row_shifts(g.x.data, g.x.ld);
  int left = slice.depth;
  const auto copy_next = [&](float* x, float* y) {
    copier_x.copy_next(x, g.x, left);
    copier_y.copy_next(y, g.y, left);
    left -= C::depth;
    return shifts.first;
  };
  produce_terms<C, kXAlong>(shared, slice.rounds, slice.rounds, shifts.step, copy_next);
}

// A consumer's two lines of its warp's 16 of Y, neighbours: rows g and g + 8 of the fragment.
__device__ __forceinline__ unsigned fragment_line() {
  return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 * 2;
}

// A thread's terms of four neighbours along k, of each of its two lines.
__device__ WARPLADDER_INLINE_ON_GPU void split_values(unsigned (&a)[parts::kTerms][4],
                                                      const float (&value)[2][4], unsigned& lost) {
  WARPLADDER_UNROLL_ON_GPU
  for (int w = 0; w < 4; ++w) {
    const float(&of)[4] = value[w % 2];
    parts::split_two(of[w / 2 * 2], of[w / 2 * 2 + 1], a[0][w], a[1][w], a[2][w], lost);
  }
}

// A thread's terms of Y's raw tile, at step·16 of its depth.
template <class C, bool kAlong>
__device__ __forceinline__ void split_fragment(unsigned (&a)[parts::kTerms][4], const float* raw,
                                               int step, const RowShifts& shifts, unsigned& lost) {
  unsigned line = fragment_line();
  const unsigned t = threadIdx.x % 4;
  ptx::make_opaque(line);
  float value[2][4];  // of each line
  if constexpr (C::shifted) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 2; ++i) {
      load_shifted<C::tile_y, C::depth, kAlong>(value[i], raw, line, i, step * 16 + 4 * t, shifts);
    }
  } else if constexpr (kAlong) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 2; ++i) {
      parts::load4(value[i],
                   raw + TermPlaces<C::tile_y, C::depth, true, false>::at(line + i, step * 4 + t));
    }
  } else {
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < 4; ++j) {
      const unsigned k = step * 16 + 4 * t + j;
      const auto two = *reinterpret_cast<const float2*>(
          raw + TermPlaces<C::tile_y, C::depth, false, false>::at(k, line / 4) + line % 4);
      value[0][j] = two.x;
      value[1][j] = two.y;
    }
  }
  split_values(a, value, lost);
}

// Where a consumer is: the stage that it reads, and the place of X's terms.
template <class C>
struct TermsRead {
  parts::RingPlace<C::stages> place;
  int terms = 0;
};

// A consumer's sums of a tile, as parts/ptx/wgmma.hpp deals them out, Y's lines as the rows. The
// tensor cores truncate. So products of first terms, of 16 bits each, are added up for a round, and
// then in FP32 to `first`. The others, 2^-8 as large, are added up in `others`: of all rounds, or
// of one where registers are few.
//
// kExact: a round's others are added to its products of first terms, and then both to `first`. What
// that rounds off is what the next round's others begin with.
template <class C, bool kExact = false>
struct TermSums {
  static constexpr int count = C::tile_x / 2;
  static constexpr bool keeps_others = C::of_all_rounds || kExact;
  // What the tensor cores cut off lies half a unit below, on average. A quarter of it at the most
  // is given back, so that an exact sum stays what it is.
  static constexpr float cut_off = 0x1p-26f;
  float first[count] = {}, others[count] = {};

  // After a round, in front of its products of first terms.
  __device__ __forceinline__ void join_round() {
    if constexpr (!keeps_others) {
      ptx::wgmma_wait<0>();
      ptx::pin(others);
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < count; ++i) first[i] += others[i];
    }
  }
  // After all rounds.
  __device__ __forceinline__ void join_all() {
    if constexpr (keeps_others) {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < count; ++i) {
        first[i] += kExact ? others[i] : fmaf(first[i], cut_off, others[i]);
      }
    }
  }
  // Adds a round's products of first terms to sum i.
  __device__ __forceinline__ void add(int i, float part) {
    if constexpr (kExact) {
      part += fmaf(part, cut_off, others[i]);
      const float sum = first[i] + part;
      others[i] = part - (sum - first[i]);
      first[i] = sum;
    } else {
      first[i] += part;
    }
  }
};

// Adds a round's products of first terms, as many columns at a time as registers allow.
template <class C, bool kExact>
__device__ WARPLADDER_INLINE_ON_GPU void add_first_terms(TermSums<C, kExact>& sums,
                                                         const unsigned (&a)[2][parts::kTerms][4],
                                                         const TermTile<C>& terms) {
  constexpr int kColumns = C::tile_x == 64 ? 64 : 32, kCount = kColumns / 2;
  WARPLADDER_UNROLL_ON_GPU
  for (int column = 0; column < C::tile_x; column += kColumns) {
    float part[kCount];
    ptx::wgmma_fence();
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step < 2; ++step) {
      const unsigned char* const tile = terms.steps[step] + column * parts::kTermLine;
      ptx::multiply_bf16(part, a[step][0], ptx::tile_descriptor(tile), step > 0);
    }
    ptx::wgmma_commit();
    ptx::wgmma_wait<0>();
    ptx::pin(part);
    if (kExact) ptx::pin(sums.others);
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kCount; ++i) sums.add(column / 2 + i, part[i]);
  }
}

// Adds the products of a tile's rounds.
template <class C, bool kYAlong, bool kExact>
__device__ __forceinline__ void add_terms(TermSums<C, kExact>& sums, TermShared<C>& shared,
                                          TermsRead<C>& at, int rounds, unsigned& lost,
                                          const RowShifts& shifts = {}) {
  static_assert(C::depth == 2 * parts::kTermDepth);
  unsigned a[2][parts::kTerms][4];
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const int stage = at.place.stage;
    const TermTile<C>& terms = shared.ring.terms[at.terms];
    ptx::wait(&shared.full[stage], at.place.parity);
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step < 2; ++step) {  // the second is split while the first is multiplied
      split_fragment<C, kYAlong>(a[step], shared.ring.y[stage], step, shifts, lost);
      ptx::wgmma_fence();
      parts::multiply_other_terms(sums.others, a[step], ptx::tile_descriptor(terms.steps[step]),
                                  sums.keeps_others || step > 0);
      ptx::wgmma_commit();
    }
    sums.join_round();
    add_first_terms(sums, a, terms);
    ptx::pin(sums.others);
    at.place.advance();
    at.terms ^= 1;
    ptx::arrive(&shared.empty[stage]);
  }
}

// A consumer's sums of `rounds` rounds: exact ones of few lines.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void add_up_terms(float (&sum)[C::tile_x / 2], TermShared<C>& shared,
                                             std::int64_t lines_of_x, int rounds, unsigned& lost,
                                             const RowShifts& shifts = {}) {
  const auto add_up = [&]<bool kExact>() {
    TermSums<C, kExact> sums;
    TermsRead<C> at;
    add_terms<C, kYAlong>(sums, shared, at, rounds, lost, shifts);
    sums.join_all();
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < C::tile_x / 2; ++i) sum[i] = sums.first[i];
  };
  if constexpr (C::may_be_exact && kXAlong && kYAlong) {
    if (lines_of_x <= kMostExactLines) return add_up.template operator()<true>();
  }
  add_up.template operator()<false>();
}

// Where pairs lie at odd places in C, a warp lays down rows of its sums, and stores them word by
// word. So neighbouring lanes store neighbours. The padding keeps lanes from meeting on a bank.
template <class C>
struct TermRows {
  static constexpr int count = 8;
  float row[count][C::tile_x + 8];
};

template <class C>
__device__ __forceinline__ void sync_consumers() {
  ptx::named_barrier_together<1, C::consumers>();
}

// Lays a thread's sums down.
template <class C>
__device__ WARPLADDER_INLINE_ON_GPU void lay_down_terms(TermShared<C>& shared,
                                                        const float (&sum)[C::tile_x / 2]) {
  const unsigned y = fragment_line(), x = threadIdx.x % 4 * 2;
  WARPLADDER_UNROLL_ON_GPU
  for (int j = 0; j < C::tile_x / 8; ++j) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 2; ++i) {
      *reinterpret_cast<float2*>(&shared.sums[8 * j + x + i][y]) =
          make_float2(sum[4 * j + i], sum[4 * j + 2 + i]);
    }
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
