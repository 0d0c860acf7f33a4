#pragma once
// A product whose k is short, in three bfloat16 terms (parts/bfloat_terms.hpp). The terms of a tile
// of X lie in shared memory, of all k. Y passes them: a warpgroup reads its lines from memory
// straight into the registers from which they are multiplied. There is no ring and no producer.

#include "ops/sgemm/tensor/held_epilogue.hpp"
#include "ops/sgemm/tensor/lines_of_product.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A batch's products lie along z of the grid, tiles of X along y. CTAs along x part Y's tiles.
struct HeldGemm {
  SlicedGemm lines;
  Gemm of;
  Batch batch;
};

// X's terms, of 64 along k: the lines' first terms, then their second and third ones. A line is 128
// bytes, in the 128-byte swizzle.
template <class C>
struct HeldTerms {
  static constexpr int bytes_of_term = C::tile_x * 128;
  unsigned char line[parts::kTerms * C::tile_x][128];
};
template <class C>
struct HeldShared {
  static constexpr bool joins = C::slices > 1;
  float sums[C::slices][joins ? C::tile_x / 2 : 1][128];  // of each thread
  TermRows<C> rows[joins ? 1 : C::threads / 32];
  unsigned lost[C::threads / 32];
  alignas(1024) HeldTerms<C> terms[1];  // as many as k takes
};

// Four neighbours along k of a line, `there` of which exist.
template <bool kAlong>
__device__ __forceinline__ void read_some(float* value, const float* from, std::int64_t ld,
                                          int there) {
  WARPLADDER_UNROLL_ON_GPU
  for (int j = 0; j < 4; ++j) value[j] = j < there ? from[kAlong ? j : j * ld] : 0.0f;
}

// The order in which a quad's threads take each 16 along k of Y, and so that of X's terms. Thread t
// has four: neighbours (parts/bfloat_terms.hpp); the tensor cores' own numbers 2·t, 2·t + 1, and
// those eight further; or t and each fourth behind it.
enum class TermOrder { neighbours, own, fourths };

// The terms of eight neighbours along k, in pairs of an order that is not that of neighbours.
template <TermOrder order>
__device__ __forceinline__ void split_in_pairs(uint4 (&word)[parts::kTerms],
                                               const float (&value)[8], unsigned& lost) {
  constexpr int kApart = order == TermOrder::own ? 1 : 4, kNext = order == TermOrder::own ? 2 : 1;
  const auto split = [&](int i, unsigned uint4::*to) {
    parts::split_two(value[i], value[i + kApart], word[0].*to, word[1].*to, word[2].*to, lost);
  };
  split(0, &uint4::x);
  split(kNext, &uint4::y);
  split(2 * kNext, &uint4::z);
  split(3 * kNext, &uint4::w);
}

// A warp's lines of X, in rounds that warpgroups take by turns. Of each of C::blocks lines, 32
// apart, each lane has eight neighbours along k.
template <class C, bool kAlong>
class HeldX {
 public:
  HeldX() = default;
  __device__ __forceinline__ HeldX(const SlicedGemm& g, std::int64_t x0) { begin(g, x0, 0); }
  __device__ __forceinline__ void begin(const SlicedGemm& g, std::int64_t x0, std::int64_t k0) {
    const std::int64_t ld = g.x.ld, k = k0 + k_of_lane();
    left_ = static_cast<int>(g.k - k);
    WARPLADDER_UNROLL_ON_GPU
    for (int b = 0; b < C::blocks; ++b) {
      const std::int64_t line = min(x0 + line_of_lane() + 32 * b, g.x.lines - 1);
      from_[b] = g.x.data + (kAlong ? line * ld + k : k * ld + line);
    }
  }
  __device__ WARPLADDER_INLINE_ON_GPU void read(float (&value)[C::blocks][8], const SlicedGemm& g) {
    const std::int64_t ld = g.x.ld;
    if (left_ < 8) {
      WARPLADDER_UNROLL_ON_GPU
      for (int b = 0; b < C::blocks; ++b) {
        read_some<kAlong>(value[b], from_[b], ld, left_);
        read_some<kAlong>(value[b] + 4, from_[b] + 4 * (kAlong ? 1 : ld), ld, left_ - 4);
      }
    } else if (kAlong && g.x.vectors) {
      WARPLADDER_UNROLL_ON_GPU
      for (int b = 0; b < C::blocks; ++b) {
        parts::load4(value[b], from_[b]);
        parts::load4(value[b] + 4, from_[b] + 4);
      }
    } else {
      WARPLADDER_UNROLL_ON_GPU
      for (int b = 0; b < C::blocks; ++b) {
        WARPLADDER_UNROLL_ON_GPU
        for (int j = 0; j < 8; ++j) value[b][j] = from_[b][kAlong ? j : j * ld];
      }
    }
    constexpr int kStep = C::warpgroups * C::depth;
    left_ -= kStep;
    WARPLADDER_UNROLL_ON_GPU
    for (int b = 0; b < C::blocks; ++b) from_[b] += kAlong ? kStep : kStep * ld;
  }
  // The terms of round `round`.
  template <TermOrder order = TermOrder::neighbours>
  __device__ WARPLADDER_INLINE_ON_GPU static void put(HeldTerms<C>* terms, int round,
                                                      const float (&value)[C::blocks][8],
                                                      unsigned& lost) {
    const int line = line_of_lane(), octet = threadIdx.x % 32 / 8,
              half = C::depth == 64 ? block_of_lane() : round % 2, piece = half * 4 + octet / 2 * 2;
    WARPLADDER_UNROLL_ON_GPU
    for (int b = 0; b < C::blocks; ++b) {
      unsigned char* const to = terms[C::depth == 64 ? round : round / 2].line[line + 32 * b];
      const auto place = [&](int term, int half) {
        return to + term * HeldTerms<C>::bytes_of_term +
               ((piece + half) ^ line % 8) * sizeof(uint4);
      };
      if constexpr (order != TermOrder::neighbours) {
        uint4 word[parts::kTerms];
        split_in_pairs<order>(word, value[b], lost);
        WARPLADDER_UNROLL_ON_GPU
        for (int term = 0; term < parts::kTerms; ++term) {
          *reinterpret_cast<uint4*>(place(term, octet % 2)) = word[term];
        }
      } else {
        split_octet(value[b], lost, [&](int term, int half, uint2 words) {
          *reinterpret_cast<uint2*>(place(term, half) + octet % 2 * sizeof(uint2)) = words;
        });
      }
    }
  }

 private:
  // Of fewer than 32 lines some warps have the next 32 along k.
  static constexpr int kWarps = C::tile_x < 32 ? C::tile_x / 8 : 4;
  static_assert(C::depth * kWarps == 128);
  __device__ __forceinline__ static int line_of_lane() {
    return static_cast<int>(threadIdx.x) / 32 % kWarps * 8 + static_cast<int>(threadIdx.x) % 8;
  }
  __device__ __forceinline__ static int block_of_lane() {
    return kWarps < 4 ? static_cast<int>(threadIdx.x) / 32 % 4 / kWarps : 0;
  }
  __device__ __forceinline__ static int k_of_lane() {
    const int warpgroup = C::warpgroups > 1 ? static_cast<int>(threadIdx.x) / 128 : 0;
    return warpgroup * C::depth + 32 * block_of_lane() + static_cast<int>(threadIdx.x) % 32 / 8 * 8;
  }
  int left_;
  const float* from_[C::blocks];
};

// A round of a thread's two lines of Y: of each four neighbours along k in each of two steps.
struct HeldRound {
  float value[2][2][4];  // step, line
};

// A warpgroup's tiles of Y, round by round. Of lines that do not exist the last ones are read.
template <class C, bool kAlong>
class HeldY {
 public:
  __device__ __forceinline__ HeldY(const SlicedGemm& g, unsigned tile, unsigned step)
      : tile_(tile), step_(step), pairs_(!kAlong && g.y.vectors && g.y.lines % 2 == 0) {
    begin(g);
  }
  __device__ __forceinline__ void read(HeldRound& to, const SlicedGemm& g) {
    if (tile_ >= g.tiles_y.by || left_ <= 0) return;
    const std::int64_t ld = g.y.ld, along = kAlong ? 1 : ld;
    if (left_ < C::depth) {
      for_lines(
          to,
          [&](float* value, int s, const float* from) {
            read_some<kAlong>(value, from, ld, left_ - 16 * s - k_of_lane());
          },
          along);
    } else if (kAlong && g.y.vectors) {
      for_lines(
          to, [&](float* value, int, const float* from) { parts::load4(value, from); }, along);
    } else if (pairs_) {
      WARPLADDER_UNROLL_ON_GPU
      for (int s = 0; s < 2; ++s) {
        WARPLADDER_UNROLL_ON_GPU
        for (int j = 0; j < 4; ++j) {
          const auto two = *reinterpret_cast<const float2*>(from_ + (16 * s + j) * ld);
          to.value[s][0][j] = two.x;
          to.value[s][1][j] = two.y;
        }
      }
    } else {
      for_lines(
          to,
          [&](float* value, int, const float* from) {
            WARPLADDER_UNROLL_ON_GPU
            for (int j = 0; j < 4; ++j) value[j] = from[j * along];
          },
          along);
    }
    constexpr int kStep = C::slices * C::depth;
    from_ += kStep * along;
    left_ -= kStep;
    if constexpr (C::slices == 1) {
      if (left_ > 0) return;
      tile_ += step_;
      begin(g);
    }
  }
  // Begins at the next tile, where the warpgroup has a slice of each.
  __device__ __forceinline__ void next_tile(const SlicedGemm& g) {
    static_assert(C::slices > 1);
    tile_ += step_;
    begin(g);
  }

 private:
  __device__ __forceinline__ static int k_of_lane() { return threadIdx.x % 4 * 4; }
  template <class Read>
  __device__ __forceinline__ void for_lines(HeldRound& to, const Read& read, std::int64_t along) {
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < 2; ++i) {
      const float* const line = from_ + (i > 0 ? second_ : 0);
      WARPLADDER_UNROLL_ON_GPU
      for (int s = 0; s < 2; ++s) read(to.value[s][i], s, line + 16 * s * along);
    }
  }
  __device__ __forceinline__ void begin(const SlicedGemm& g) {
    const LineOperand& y = g.y;
    const int first = C::slices > 1 ? static_cast<int>(threadIdx.x) / 128 * C::depth : 0;
    const std::int64_t line =
        min(std::int64_t{tile_} * C::tile_y + held_line(), y.lines - (pairs_ ? 2 : 1));
    second_ = line + 1 < y.lines ? (kAlong ? y.ld : 1) : 0;
    left_ = static_cast<int>(g.k) - first;
    const std::int64_t k = first + k_of_lane();
    from_ = y.data + (kAlong ? line * y.ld + k : k * y.ld + line);
  }
  unsigned tile_, step_;
  bool pairs_;
  int left_ = 0;
  std::int64_t second_ = 0;  // from a thread's first line to its second one
  const float* from_ = nullptr;
};

// A thread's sums of a tile, with a round's products of first terms.
template <class C, bool kExact = false>
struct HeldSums : TermSums<C, kExact> {
  float part[C::tile_x / 2];

  // Multiplies a step of 16 of k; the first one of a round, or another.
  __device__ __forceinline__ void multiply(const unsigned (&a)[parts::kTerms][4],
                                           ptx::TileDescriptor terms, bool add) {
    parts::multiply_other_terms(this->others, a, terms, true, HeldTerms<C>::bytes_of_term);
    ptx::multiply_bf16(part, a[0], terms, add);
  }
  // After a round.
  __device__ __forceinline__ void add_round() {
    ptx::wgmma_wait<0>();
    ptx::pin(part);
    ptx::pin(this->others);
    // Exact sums are of few lines; nobody reads the other ones.
    constexpr int kCount = kExact ? (kMostExactLines + 7) / 8 * 4 : C::tile_x / 2;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < kCount; ++i) this->add(i, part[i]);
  }
};

// A warpgroup's rounds of a tile, from `round` on. The next one of Y is on its way.
template <class C, bool kYAlong>
__device__ __forceinline__ void add_held_terms(HeldSums<C>& sums, const HeldShared<C>& shared,
                                               const SlicedGemm& g, int round, HeldRound& ahead,
                                               HeldY<C, kYAlong>& y, unsigned& lost) {
  WARPLADDER_NO_UNROLL
  for (; round < g.rounds; round += C::slices) {
    const ptx::TileDescriptor terms =
        ptx::behind(ptx::tile_descriptor(&shared.terms[round / 2]), round % 2 * 64);
    unsigned a[2][parts::kTerms][4];
    WARPLADDER_UNROLL_ON_GPU
    for (int step = 0; step < 2; ++step) {
      split_values(a[step], ahead.value[step], lost);
      ptx::wgmma_fence();
      sums.multiply(a[step], ptx::behind(terms, 32 * step), step > 0);
      ptx::wgmma_commit();
    }
    y.read(ahead, g);
    sums.add_round();
  }
  sums.join_all();
}

// A warpgroup's share of a tile to C. `sums`: of its slice; those of all slices lie in shared
// memory.
template <class C, bool kXInLines, class Place>
__device__ __forceinline__ void store_held(HeldShared<C>& shared, const SlicedGemm& g,
                                           const HeldSums<C>& sums, const Place& at,
                                           std::int64_t x0, std::int64_t y0) {
  // Rows of C whose pairs lie in whole sectors need not be laid down.
  const std::int64_t ld = kXInLines ? g.c_y : g.c_x;
  const bool whole = holds_whole_pairs<C, kXInLines>(g, x0, y0);
  if constexpr (C::slices == 1 && kXInLines) {
    if (!whole || ld % 8 != 0) {
      store_held_rows<C>(shared.rows[threadIdx.x / 32], g, at, x0, sums.first);
      return;
    }
  }
  WARPLADDER_UNROLL_ON_GPU
  for (int j = 0; j < C::tile_x / 8; ++j) {
    float four[4];
    if constexpr (C::slices == 1) {
      WARPLADDER_UNROLL_ON_GPU
      for (int e = 0; e < 4; ++e) four[e] = sums.first[4 * j + e];
    } else {
      if (j % C::slices != static_cast<int>(threadIdx.x) / 128) continue;
      WARPLADDER_UNROLL_ON_GPU
      for (int e = 0; e < 4; ++e) {
        four[e] = 0.0f;
        WARPLADDER_UNROLL_ON_GPU
        for (int s = 0; s < C::slices; ++s) {
          four[e] += shared.sums[s][4 * j + e][threadIdx.x % 128];
        }
      }
    }
    store_four<kXInLines>(g, at, j, four, whole);
  }
}

// A warpgroup's sums of its slice. One that is not right becomes none at all, and so does what it
// is added to.
template <class C>
__device__ __forceinline__ void lay_down_slice(HeldShared<C>& shared, const HeldSums<C>& sums,
                                               int warpgroup) {
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < C::tile_x / 2; ++i) {
    shared.sums[warpgroup][i][threadIdx.x % 128] =
        is_right(sums.first[i], 0.0f) ? sums.first[i] : __int_as_float(0x7fffffff);
  }
}

// A warp reports whether terms of its threads have lost something.
template <class C>
__device__ __forceinline__ void report_lost(HeldShared<C>& shared, unsigned lost) {
  const bool of_warp = __any_sync(0xffffffffu, parts::has_lost(lost));
  if (threadIdx.x % 32 == 0) shared.lost[threadIdx.x / 32] = of_warp;
}
// Whether any warp has reported that. A barrier lies in between.
template <class C, class Shared>
__device__ __forceinline__ bool any_lost(const Shared& shared) {
  unsigned lost = 0;
  WARPLADDER_UNROLL_ON_GPU
  for (int warp = 0; warp < C::threads / 32; ++warp) lost |= shared.lost[warp];
  return lost != 0;
}

// A warpgroup's rounds of X into terms.
template <class C, bool kXAlong>
__device__ __forceinline__ void hold_terms(HeldShared<C>& shared, const SlicedGemm& g,
                                           HeldX<C, kXAlong>& x, float (&value)[C::blocks][8],
                                           unsigned& lost) {
  WARPLADDER_NO_UNROLL
  for (int round = static_cast<int>(threadIdx.x) / 128; round < g.rounds;) {
    x.put(shared.terms, round, value, lost);
    round += C::warpgroups;
    if (round < g.rounds) x.read(value, g);
  }
  ptx::fence_async_proxy_of_shared();
}

template <class C>
constexpr std::size_t held_shared_bytes(int rounds) {
  return offsetof(HeldShared<C>, terms) +
         static_cast<std::size_t>((rounds + 1) / 2) * sizeof(HeldTerms<C>);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
