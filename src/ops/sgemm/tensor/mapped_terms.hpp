#pragma once
// A product in three bfloat16 terms (term_tiles.hpp) of which the copy engine brings Y: one thread
// asks for a round's box. The producers split X on its way from memory to its terms, and the
// consumers split Y on its way to the registers from which it is multiplied.

#include "ops/sgemm/tensor/held_terms.hpp"
#include "ops/sgemm/tensor/mapped_tiles.hpp"
#include "parts/ptx/tma.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A round of Y whose rows begin at any word (C::shifted): rows are lines (kAlong) or those of one
// k. Row r begins up to three words behind a multiple of 16 bytes, and so does row r + 4, which is
// a multiple of 16 bytes further. So Y is four matrices to the copy engine, row r one of number r %
// 4, which begin at the multiples of 16 bytes before their first rows. Their boxes lie behind each
// other. A row has four words more for its shift.
template <class C, bool kAlong>
struct ShiftedBoxes {
  static constexpr int rows = (kAlong ? C::tile_y : C::depth) / 4, length = kAlong ? C::depth : 128,
                       pitch = length + 4, across = kAlong ? 1 : C::tile_y / length,
                       words = 4 * across * rows * pitch;
  // Of row `row` the element `column`, whose shift is known.
  __device__ __forceinline__ static int at(int row, int column) {
    return (column / length * 4 + row % 4) * (rows * pitch) + row / 4 * pitch + column % length;
  }
};
template <class C>
constexpr int words_of_round() {
  return C::shifted ? std::max(ShiftedBoxes<C, true>::words, ShiftedBoxes<C, false>::words)
                    : C::tile_y * C::depth;
}

// Lines along k are read by fours. Where lines are shifted, threads of a quad read words that are
// neighbours, or of rows with different shifts: they meet on fewer banks.
template <class C, bool kAlong>
constexpr TermOrder order_of_y = C::shifted ? TermOrder::fourths
                                 : kAlong   ? TermOrder::neighbours
                                            : TermOrder::own;

// What the copy engine knows of Y.
template <class C>
struct MappedLines {
  runtime::TensorMap of[C::shifted ? 4 : 1];
};

// A stage holds a round of Y, in boxes of 128 bytes a row or ShiftedBoxes, and of X's terms half of
// a HeldTerms.
template <class C>
struct MappedShared {
  struct Ring {
    float y[C::stages][words_of_round<C>()];
    HeldTerms<C> terms[(C::stages + 1) / 2];
  };
  alignas(1024) Ring ring;
  ptx::Barrier full[C::stages];    // a round's Y and X's terms are there
  ptx::Barrier empty[C::stages];   // the consumers have done with them
  unsigned lost[C::threads / 32];  // the producers' alone

  // Called by all threads; a barrier of all follows.
  __device__ __forceinline__ void init() {
    if (threadIdx.x < C::threads / 32) lost[threadIdx.x] = 0;
    if (threadIdx.x > 0) return;
    for (int s = 0; s < C::stages; ++s) {
      ptx::barrier_init(&full[s], C::producers + 1);  // the boxes' arrival is one of its own
      ptx::barrier_init(&empty[s], C::warps);
    }
    ptx::fence_barrier_init();
  }
  // Of X's terms of a stage.
  __device__ __forceinline__ ptx::TileDescriptor terms_of(int stage) const {
    return ptx::behind(ptx::tile_descriptor(&ring.terms[stage / 2]), stage % 2 * 64);
  }
};

// A CTA's part of the product, as if it were all of k: where it has a slice, its sums go to the
// workspace.
struct MappedSlice {
  SlicedGemm of;
  std::int64_t x0, y0, k0;
  int rounds;
};
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ MappedSlice mapped_slice(const SlicedGemm& g) {
  const SlicedTile tile = sliced_tile<C>(g, blockIdx.x);
  const TermDepth depth = term_depth<C>(g, tile);
  SlicedGemm of = g;
  of.x.data += depth.k0 * (kXAlong ? 1 : g.x.ld);
  of.y.data += depth.k0 * (kYAlong ? 1 : g.y.ld);
  of.k = depth.depth;
  if (g.slices > 1) {
    of.c = g.partial + tile.slice * g.x.lines * g.y.lines;
    of.c_x = g.partial_x;
    of.c_y = g.partial_y;
    of.alpha = 1;
    of.beta = 0;
  }
  return {of, tile.x0, tile.y0, depth.k0, depth.rounds};
}

// A round of a tile of Y. Lines along k are the rows of one box, of 32 along k; where they lie
// across, the rows of a box are 32 along k, of 32 lines. Called by one thread.
template <class C, bool kAlong>
__device__ __forceinline__ void fetch_round(MappedShared<C>& shared, int stage,
                                            const MappedLines<C>& maps, std::int64_t line,
                                            std::int64_t k) {
  float* const to = shared.ring.y[stage];
  ptx::Barrier* const full = &shared.full[stage];
  const auto first_line = static_cast<int>(line), first_k = static_cast<int>(k);
  if constexpr (C::shifted) {
    using Boxes = ShiftedBoxes<C, kAlong>;
    ptx::arrive_expecting(full, sizeof(float) * Boxes::words);
    const int row = (kAlong ? first_line : first_k) / 4, column = kAlong ? first_k : first_line;
    WARPLADDER_UNROLL_ON_GPU
    for (int box = 0; box < 4 * Boxes::across; ++box) {
      ptx::tma_load(to + box * (Boxes::rows * Boxes::pitch), maps.of[box % 4], full, row,
                    column + box / 4 * Boxes::length);
    }
    return;
  }
  ptx::arrive_expecting(full, sizeof shared.ring.y[stage]);
  if constexpr (kAlong) {
    ptx::tma_load(to, maps.of[0], full, first_line, first_k);
  } else {
    WARPLADDER_UNROLL_ON_GPU
    for (int box = 0; box < C::tile_y / 32; ++box) {
      ptx::tma_load(to + box * 32 * C::depth, maps.of[0], full, first_k, first_line + 32 * box);
    }
  }
}

// The producers' rounds of a slice. X is read C::ahead rounds ahead, for its way from memory takes
// longer than a round, and asked for before Y, of which much is on its way.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void produce_mapped(MappedShared<C>& shared, const MappedSlice& slice,
                                               const MappedLines<C>& maps) {
  const bool fetches = threadIdx.x == C::consumers;
  const auto fetch = [&](int stage, int round) {
    fetch_round<C, kYAlong>(shared, stage, maps, slice.y0, slice.k0 + round * C::depth);
  };
  HeldX<C, kXAlong> x(slice.of, slice.x0);
  float value[C::ahead][C::blocks][8];
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < C::ahead; ++i) {
    if (i < slice.rounds) x.read(value[i], slice.of);
  }
  if (fetches) {
    const int rounds = slice.rounds < C::stages ? slice.rounds : C::stages;
    WARPLADDER_NO_UNROLL
    for (int round = 0; round < rounds; ++round) fetch(round, round);
  }
  parts::RingPlace<C::stages> at;
  unsigned lost = 0;
  WARPLADDER_NO_UNROLL
  for (int first = 0; first < slice.rounds; first += C::ahead) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < C::ahead; ++i) {
      const int round = first + i;
      if (round >= slice.rounds) break;
      if (round >= C::stages) {
        ptx::wait(&shared.empty[at.stage], at.parity ^ 1);
        if (fetches) fetch(at.stage, round);
      }
      x.template put<order_of_y<C, kYAlong>>(shared.ring.terms, at.stage, value[i], lost);
      ptx::fence_async_proxy_of_shared();
      if (round + 1 == slice.rounds) report_lost(shared, lost);
      ptx::arrive(&shared.full[at.stage]);
      at.advance();
      if (round + C::ahead < slice.rounds) x.read(value[i], slice.of);
    }
  }
}

// A consumer's two neighbouring lines of its warp's 16 of Y: the first one. Eight lanes that read
// pieces at once have lines whose places differ.
__device__ __forceinline__ int mapped_line() {
  const int lane = threadIdx.x % 32, g = lane / 4;
  return static_cast<int>(threadIdx.x) / 32 * 16 + (g & 4) * 2 + (g & 1) * 4 + (g & 2);
}

// Of both lines a thread's four elements along k, of step `step` of a round.
template <class C, bool kAlong>
__device__ __forceinline__ void read_mapped(float (&value)[2][4], const float* y, int line,
                                            int step, const RowShifts& shifts) {
  const int t = threadIdx.x % 4;
  WARPLADDER_UNROLL_ON_GPU
  for (int j = 0; j < (order_of_y<C, kAlong> == TermOrder::neighbours ? 2 : 4); ++j) {
    if constexpr (C::shifted) {
      using Boxes = ShiftedBoxes<C, kAlong>;
      const int k = step * 16 + t + 4 * j;
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < 2; ++i) {
        const int row = kAlong ? line + i : k, column = kAlong ? k : line + i;
        value[i][j] = y[Boxes::at(row, column) + shifts.of(static_cast<unsigned>(row))];
      }
    } else if constexpr (kAlong) {
      parts::load4(value[j], y + (line + j) * 32 + ((step * 4 + t) ^ (line + j) % 8) * 4);
    } else {
      const int k = step * 16 + 2 * t + j % 2 + j / 2 * 8;
      const auto two = *reinterpret_cast<const float2*>(y + line / 32 * 1024 + k * 32 +
                                                        ((line % 32 / 4) ^ k % 8) * 4 + line % 4);
      value[0][j] = two.x;
      value[1][j] = two.y;
    }
  }
}

// A consumer's walk through a slice's rounds. While a step is multiplied, the next one is split.
template <class C, bool kYAlong>
struct MappedWalk {
  MappedShared<C>& shared;
  unsigned& lost;
  RowShifts shifts;
  int line = mapped_line();
  parts::RingPlace<C::stages> at = {};

  // Step `step` of the stage that it is at.
  __device__ __forceinline__ void split(unsigned (&a)[parts::kTerms][4], int step) {
    float value[2][4];
    read_mapped<C, kYAlong>(value, shared.ring.y[at.stage], line, step, shifts);
    split_values(a, value, lost);
  }
  __device__ __forceinline__ void begin_round(unsigned (&a)[parts::kTerms][4]) {
    ptx::wait(&shared.full[at.stage], at.parity);
    split(a, 0);
  }
};

// A consumer's sums of a slice.
template <class C, bool kYAlong, bool kExact>
__device__ __forceinline__ void add_mapped_terms(float (&sum)[C::tile_x / 2],
                                                 MappedShared<C>& shared, int rounds,
                                                 const RowShifts& shifts, unsigned& lost) {
  HeldSums<C, kExact> sums;
  MappedWalk<C, kYAlong> walk{shared, lost, shifts};
  unsigned first[parts::kTerms][4], second[parts::kTerms][4];
  if (rounds > 0) walk.begin_round(first);
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const int stage = walk.at.stage;
    const ptx::TileDescriptor terms = shared.terms_of(stage);
    ptx::wgmma_fence();
    sums.multiply(first, terms, false);
    ptx::wgmma_commit();
    walk.split(second, 1);
    ptx::wgmma_fence();
    sums.multiply(second, ptx::behind(terms, 32), true);
    ptx::wgmma_commit();
    walk.at.advance();
    if (round + 1 < rounds) {
      ptx::wgmma_wait<1>();  // the first step's words are used no more
      walk.begin_round(first);
    }
    sums.add_round();
    if (threadIdx.x % 32 == 0) ptx::arrive(&shared.empty[stage]);
  }
  sums.join_all();
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < C::tile_x / 2; ++i) sum[i] = sums.first[i];
}

// The same of a slice, exact ones of few lines.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void add_up_mapped(float (&sum)[C::tile_x / 2], MappedShared<C>& shared,
                                              const MappedSlice& slice, unsigned& lost) {
  const RowShifts shifts{0, shift_step(slice.of.y.ld)};
  if constexpr (C::may_be_exact && kXAlong && kYAlong) {
    if (slice.of.x.lines <= kMostExactLines) {
      return add_mapped_terms<C, kYAlong, true>(sum, shared, slice.rounds, shifts, lost);
    }
  }
  add_mapped_terms<C, kYAlong, false>(sum, shared, slice.rounds, shifts, lost);
}

// A consumer's sums to C, or to the workspace.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void store_mapped(const MappedShared<C>& shared,
                                             const MappedSlice& slice,
                                             const float (&sum)[C::tile_x / 2], unsigned lost) {
  const SlicedGemm& g = slice.of;
  HeldPlace<kXAlong, kYAlong> at{slice.x0 + threadIdx.x % 4 * 2, slice.y0 + mapped_line(), 0.0f};
  if (__any_sync(0xffffffffu, parts::has_lost(lost)) || any_lost<C>(shared)) {
    at.least = at.template least_of_warp<C>(g);
  }
  const auto store = [&]<bool kXInLines>() {
    const bool whole = holds_whole_pairs<C, kXInLines>(g, slice.x0, slice.y0);
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < C::tile_x / 8; ++j) {
      const float four[4] = {sum[4 * j], sum[4 * j + 1], sum[4 * j + 2], sum[4 * j + 3]};
      store_four<kXInLines>(g, at, j, four, whole);
    }
  };
  g.x_in_lines ? store.template operator()<true>() : store.template operator()<false>();
}

// Whether the copy engine can bring Y, whose coordinates are 32-bit: as one matrix, or as four.
inline bool is_mapped(const SlicedGemm& g, bool shifted) {
  const bool in_reach = g.k > 3 && g.k <= INT32_MAX && g.y.lines > 3 && g.y.lines <= INT32_MAX;
  return in_reach && (shifted ? reinterpret_cast<std::uintptr_t>(g.y.data) % 16 == 0 : g.y.vectors);
}

// Y's maps, of boxes as fetch_round() asks for them.
template <class C, bool kAlong>
MappedLines<C> maps_of_lines(const SlicedGemm& g, runtime::StreamView& stream) {
  const std::int64_t rows = kAlong ? g.y.lines : g.k, columns = kAlong ? g.k : g.y.lines,
                     ld = g.y.ld;
  if constexpr (C::shifted) {
    using Boxes = ShiftedBoxes<C, kAlong>;
    MappedLines<C> maps;
    for (int first = 0; first < 4; ++first) {
      const std::int64_t shift = first * ld % 4;
      maps.of[first] =
          runtime::encode(stream, {g.y.data + first * ld - shift, 4, tiles(rows - first, 4),
                                   columns + shift, 4 * ld, Boxes::rows, Boxes::pitch});
    }
    return maps;
  } else {
    return {
        runtime::encode(stream, {g.y.data, 4, rows, columns, ld, kAlong ? C::tile_y : C::depth})};
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
