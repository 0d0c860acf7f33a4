#pragma once
// A product in three bfloat16 terms (term_tiles.hpp) of which the copy engine brings Y: one thread
// asks for a round's box. The producers split X on its way from memory to its terms. The consumers
// split Y on its way to the registers from which it is multiplied.

#include "ops/sgemm/tensor/held_terms.hpp"
#include "ops/sgemm/tensor/mapped_tiles.hpp"
#include "parts/ptx/tma.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A round of Y whose rows begin at any word (C::shifted): rows are lines (kAlong) or those of one
// k. Row r begins up to three words behind a multiple of 16 bytes. So does row r + 4, which is a
// multiple of 16 bytes further. So Y is four matrices to the copy engine, row r one of number
// r % 4. They begin at the multiples of 16 bytes before their first rows. Their boxes lie behind
// each other. A row has four words more for its shift.
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

// A stage holds a round of Y, in boxes of 128 bytes a row or ShiftedBoxes, and X's terms: a
// HeldTerms, or half of one.
template <class C>
struct MappedShared {
  static constexpr int stages_of_terms = 64 / C::depth;
  struct Ring {
    float y[C::stages][words_of_round<C>()];
    HeldTerms<C> terms[(C::stages + stages_of_terms - 1) / stages_of_terms];
  };
  alignas(1024) Ring ring;
  ptx::Barrier full[C::stages];    // a round's Y and X's terms are there
  ptx::Barrier empty[C::stages];   // the consumers have done with them
  unsigned lost[C::threads / 32];  // of producers, and of consumers that lay their sums down
  // Those of the second part of k.
  float sums[C::parts > 1 ? C::tile_x / 2 : 1][C::parts > 1 ? C::consumers / C::parts : 1];

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
  // X's terms of a stage, of 32 along k; of the second 32 where `part` is 1.
  __device__ __forceinline__ ptx::TileDescriptor terms_of(int stage, int part) const {
    constexpr int kBytes = 64;
    const int half = C::parts > 1 ? part : stage % 2;
    return ptx::behind(ptx::tile_descriptor(&ring.terms[stage / stages_of_terms]), half * kBytes);
  }
};

// Where a CTA is on its way through slices of tiles. Its first one is of its own number, and each
// next one so many CTAs further. For those run at the same time, and read what lies side by side.
template <class C>
struct MappedPlace {
  SlicedTile tile;
  unsigned number;
  int round;  // of all of k

  __device__ __forceinline__ MappedPlace(const SlicedGemm& g) : number(blockIdx.x) { begin(g); }
  // Whether that begins a slice.
  __device__ __forceinline__ bool advance(const SlicedGemm& g) {
    if (++round < tile.end) return false;
    leave(g);
    return true;
  }
  // To the next slice.
  __device__ __forceinline__ void leave(const SlicedGemm& g) {
    number += gridDim.x;
    begin(g);
  }

 private:
  __device__ __forceinline__ void begin(const SlicedGemm& g) {
    tile = sliced_tile<C>(g, number);
    round = tile.first;
  }
};

// How many rounds all its slices have.
template <class C>
__device__ __forceinline__ int rounds_of_cta(const SlicedGemm& g, unsigned slices) {
  int rounds = 0;
  for (unsigned number = blockIdx.x; number < slices; number += gridDim.x) {
    const SlicedTile tile = sliced_tile<C>(g, number);
    rounds += tile.end - tile.first;
  }
  return rounds;
}

// A slice of a tile, as if it were all of k: of several, its sums go to the workspace.
template <bool kXAlong, bool kYAlong, int kDepth>
__device__ __forceinline__ SlicedGemm gemm_of_slice(const SlicedGemm& g, const SlicedTile& tile) {
  const std::int64_t k0 = std::int64_t{tile.first} * kDepth;
  SlicedGemm of = g;
  of.x.data += k0 * (kXAlong ? 1 : g.x.ld);
  of.y.data += k0 * (kYAlong ? 1 : g.y.ld);
  of.k = min(g.k - k0, std::int64_t{tile.end - tile.first} * kDepth);
  if (g.slices > 1) {
    of.c = g.partial + tile.slice * g.x.lines * g.y.lines;
    of.c_x = g.partial_x;
    of.c_y = g.partial_y;
    of.alpha = 1;
    of.beta = 0;
  }
  return of;
}

// A round of a tile of Y. Lines along k are the rows of a box of 32 along k. Where they lie across,
// the rows of a box are the round's, of 32 lines. Called by one thread.
template <class C, bool kAlong>
__device__ WARPLADDER_INLINE_ON_GPU void fetch_round(MappedShared<C>& shared, int stage,
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
    WARPLADDER_UNROLL_ON_GPU
    for (int box = 0; box < C::depth / 32; ++box) {
      ptx::tma_load(to + box * C::tile_y * 32, maps.of[0], full, first_line, first_k + 32 * box);
    }
  } else {
    WARPLADDER_UNROLL_ON_GPU
    for (int box = 0; box < C::tile_y / 32; ++box) {
      ptx::tma_load(to + box * 32 * C::depth, maps.of[0], full, first_k, first_line + 32 * box);
    }
  }
}

// The producers' rounds, `count` in all. X is read C::ahead rounds ahead, for its way from memory
// takes longer than a round. It is asked for before Y, of which much is on its way.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void produce_mapped(MappedShared<C>& shared, const SlicedGemm& g,
                                               const MappedLines<C>& maps, int count) {
  const bool fetches = threadIdx.x == C::consumers;
  MappedPlace<C> fetched(g), read = fetched;
  const auto fetch = [&](int stage) {
    fetch_round<C, kYAlong>(shared, stage, maps, fetched.tile.y0,
                            std::int64_t{fetched.round} * C::depth);
    fetched.advance(g);
  };
  HeldX<C, kXAlong> x;
  const auto begin_slice = [&] { x.begin(g, read.tile.x0, std::int64_t{read.round} * C::depth); };
  const auto read_x = [&](float(&value)[C::blocks][8]) {
    x.read(value, g);
    if (read.advance(g)) begin_slice();
  };
  begin_slice();
  float value[C::ahead][C::blocks][8];
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < C::ahead; ++i) {
    if (i < count) read_x(value[i]);
  }
  if (fetches) {
    const int rounds = count < C::stages ? count : C::stages;
    WARPLADDER_NO_UNROLL
    for (int stage = 0; stage < rounds; ++stage) fetch(stage);
  }
  parts::RingPlace<C::stages> at;
  unsigned lost = 0;
  WARPLADDER_NO_UNROLL
  for (int done = 0; done < count; done += C::ahead) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < C::ahead; ++i) {
      const int round = done + i;
      if (round >= count) break;
      if (round >= C::stages) {
        ptx::wait(&shared.empty[at.stage], at.parity ^ 1);
        if (fetches) fetch(at.stage);
      }
      x.template put<order_of_y<C, kYAlong>>(shared.ring.terms, at.stage, value[i], lost);
      ptx::fence_async_proxy_of_shared();
      report_lost(shared, lost);
      ptx::arrive(&shared.full[at.stage]);
      at.advance();
      if (round + C::ahead < count) read_x(value[i]);
    }
  }
}

// A consumer's two neighbouring lines of its warp's 16 of Y: the first one. Eight lanes that read
// pieces at once have lines whose places differ.
template <class C>
__device__ __forceinline__ int mapped_line() {
  const int lane = threadIdx.x % 32, g = lane / 4,
            warp = static_cast<int>(threadIdx.x) / 32 % (C::warps / C::parts);
  return warp * 16 + (g & 4) * 2 + (g & 1) * 4 + (g & 2);
}
// Which part of a round's k a consumer multiplies.
template <class C>
__device__ __forceinline__ int mapped_part() {
  return C::parts > 1 ? static_cast<int>(threadIdx.x) / (C::consumers / C::parts) : 0;
}

// Of both lines a thread's four elements along k, of step `step` of a round.
template <class C, bool kAlong>
__device__ WARPLADDER_INLINE_ON_GPU void read_mapped(float (&value)[2][4], const float* y, int line,
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
      parts::load4(value[j], y + step / 2 * C::tile_y * 32 + (line + j) * 32 +
                                 ((step % 2 * 4 + t) ^ (line + j) % 8) * 4);
    } else {
      const int k = step * 16 + 2 * t + j % 2 + j / 2 * 8;
      const auto two = *reinterpret_cast<const float2*>(y + line / 32 * 32 * C::depth + k * 32 +
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
  parts::RingPlace<C::stages>& at;
  int line = mapped_line<C>(), part = mapped_part<C>();

  // Step `step` of its part of the stage that it is at.
  __device__ __forceinline__ void split(unsigned (&a)[parts::kTerms][4], int step) {
    float value[2][4];
    read_mapped<C, kYAlong>(value, shared.ring.y[at.stage], line, 2 * part + step, shifts);
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
                                                 MappedShared<C>& shared,
                                                 parts::RingPlace<C::stages>& at, int rounds,
                                                 const RowShifts& shifts, unsigned& lost) {
  HeldSums<C, kExact> sums;
  MappedWalk<C, kYAlong> walk{shared, lost, shifts, at};
  unsigned first[parts::kTerms][4], second[parts::kTerms][4];
  walk.begin_round(first);
  WARPLADDER_NO_UNROLL
  for (int round = 0; round < rounds; ++round) {
    const int stage = walk.at.stage;
    const ptx::TileDescriptor terms = shared.terms_of(stage, walk.part);
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

// The same, exact ones of few lines.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void add_up_mapped(float (&sum)[C::tile_x / 2], MappedShared<C>& shared,
                                              const SlicedGemm& g, parts::RingPlace<C::stages>& at,
                                              int rounds, unsigned& lost) {
  const RowShifts shifts{0, shift_step(g.y.ld)};
  if constexpr (C::may_be_exact && kXAlong && kYAlong) {
    if (g.x.lines <= kMostExactLines) {
      return add_mapped_terms<C, kYAlong, true>(sum, shared, at, rounds, shifts, lost);
    }
  }
  add_mapped_terms<C, kYAlong, false>(sum, shared, at, rounds, shifts, lost);
}

// Adds the second part's sums to those of the first one, which alone has all then. One that is not
// right becomes none at all, and so does what it is added to.
template <class C>
__device__ WARPLADDER_INLINE_ON_GPU bool adds_parts(MappedShared<C>& shared,
                                                    float (&sum)[C::tile_x / 2], unsigned lost) {
  const int place = static_cast<int>(threadIdx.x) % (C::consumers / C::parts);
  const bool is_first = mapped_part<C>() == 0;
  if (!is_first) {
    report_lost(shared, lost);
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < C::tile_x / 2; ++i) {
      shared.sums[i][place] = is_right(sum[i], 0.0f) ? sum[i] : __int_as_float(0x7fffffff);
    }
  }
  sync_consumers<C>();  // the sums are there
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < C::tile_x / 2; ++i) sum[i] += is_first ? shared.sums[i][place] : 0.0f;
  sync_consumers<C>();  // and read no more
  return is_first;
}

// A consumer's sums to C, or to the workspace.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void store_mapped(MappedShared<C>& shared, const SlicedGemm& g,
                                             const SlicedTile& tile, float (&sum)[C::tile_x / 2],
                                             unsigned lost) {
  if constexpr (C::parts > 1) {
    if (!adds_parts(shared, sum, lost)) return;
  }
  HeldPlace<kXAlong, kYAlong> at{tile.x0 + threadIdx.x % 4 * 2, tile.y0 + mapped_line<C>(), 0.0f};
  if (__any_sync(0xffffffffu, parts::has_lost(lost)) || any_lost<C>(shared)) {
    at.least = at.template least_of_warp<C>(g);
  }
  const auto store = [&]<bool kXInLines>() {
    const bool whole = holds_whole_pairs<C, kXInLines>(g, tile.x0, tile.y0);
    WARPLADDER_UNROLL_ON_GPU
    for (int j = 0; j < C::tile_x / 8; ++j) {
      const float four[4] = {sum[4 * j], sum[4 * j + 1], sum[4 * j + 2], sum[4 * j + 3]};
      store_four<kXInLines>(g, at, j, four, whole);
    }
  };
  g.x_in_lines ? store.template operator()<true>() : store.template operator()<false>();
}

// A consumer's slices, of `count` in all.
template <class C, bool kXAlong, bool kYAlong>
__device__ __forceinline__ void consume_mapped(MappedShared<C>& shared, const SlicedGemm& g,
                                               unsigned count) {
  MappedPlace<C> place(g);
  parts::RingPlace<C::stages> at;
  WARPLADDER_NO_UNROLL
  while (place.number < count) {
    const SlicedTile tile = place.tile;
    float sum[C::tile_x / 2];
    unsigned lost = 0;
    add_up_mapped<C, kXAlong, kYAlong>(sum, shared, g, at, tile.end - tile.first, lost);
    place.leave(g);
    if (place.number >= count) ptx::allow_next_kernel();  // which waits for this one's end
    store_mapped<C, kXAlong, kYAlong>(shared, gemm_of_slice<kXAlong, kYAlong, C::depth>(g, tile),
                                      tile, sum, lost);
  }
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
