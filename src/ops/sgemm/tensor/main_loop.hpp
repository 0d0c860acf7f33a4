#pragma once
// The two roles of a persistent warp-specialised product. The producer thread has the copy engine
// fill a ring of stages; two consumer warpgroups multiply the stages and run the epilogue. Pairs
// choose the arithmetic, Config the tiles (ConfigType in config.hpp).

#include <type_traits>

#include "ops/sgemm/tensor/cluster_exchange.hpp"
#include "ops/sgemm/tensor/config.hpp"
#include "ops/sgemm/tensor/epilogue_rows.hpp"
#include "ops/sgemm/tensor/tile_iterator.hpp"
#include "ops/sgemm/tensor/tile_load.hpp"
#include "parts/tensor_ring.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

template <class Config>
using RingPlaceOf = parts::RingPlace<Config::Ring::kStages>;

// Fills the ring, group by group, with all that the block's tiles need. Used by one thread.
template <class Pairs, class Config>
class Producer {
 public:
  __device__ __forceinline__ Producer(typename Config::Ring& ring, const SplitGemm& split,
                                      const TileSchedule& schedule, RingPlaceOf<Config> at = {0, 1})
      : ring_(ring), groups_(groups_of<Pairs>(split.a.k)), work_(schedule), at_(at) {
    begin_tile();
  }
  __device__ __forceinline__ auto place() const { return at_; }
  __device__ __forceinline__ bool is_left() const { return work_.is_left(); }
  __device__ __forceinline__ void fetch_next(const runtime::TensorMap& a_map,
                                             const runtime::TensorMap& b_map) {
    using Ring = typename Config::Ring;
    constexpr int kShare = kConfig.block_m / kConfig.sharers;  // rows of A in a box
    const int stage = at_.stage;
    ptx::Barrier* const full = &ring_.full[stage];
    ptx::wait(&ring_.empty[stage], at_.parity);
    ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
    // Boxes of A and B have the same size, so a transposed tile can exchange the maps.
    static_assert(kConfig.sharers == 1 || kShare == kConfig.block_n);
    if (unpaired_) {
      for (int row = 0; row < kConfig.block_m; row += kShare) {
        fetch<1>(ring_.a[stage] + row * 128, transposed_ ? b_map : a_map, full, origin_.row + row,
                 group_);
      }
    } else {
      fetch<kConfig.sharers>(ring_.a[stage], a_map, full, origin_.row, group_, kShare, work_.rank);
    }
    fetch<1>(ring_.b[stage], transposed_ ? a_map : b_map, full, origin_.column, group_);
    at_.advance();
    if (++group_ == end_) {
      work_.advance();
      begin_tile();
    }
  }

 private:
  static constexpr TensorConfig kConfig = Config::value;
  __device__ __forceinline__ void begin_tile() {
    if (!work_.is_left()) return;
    origin_ = work_.origin();
    unpaired_ = work_.is_unpaired();
    transposed_ = work_.is_transposed();
    group_ = work_.first_chunk(groups_ / kConfig.groups) * kConfig.groups;
    end_ = work_.end_group(groups_);
  }

  typename Config::Ring& ring_;
  int groups_, group_ = 0, end_ = 0;
  TileIterator<Config> work_;
  TileOrigin origin_{};
  bool unpaired_ = false, transposed_ = false;
  RingPlaceOf<Config> at_;
};

// The epilogue staged rows of C in this stage of the ring: return the stage to the producer.
template <class Ring>
__device__ __forceinline__ void release_staging(Ring& ring, int stage, int cluster) {
  ptx::fence_async_proxy_of_shared();
  __syncwarp();
  parts::release_stage(ring, stage, cluster);
}

// What a consumer asks if it never stops early.
struct AlwaysContinue {
  __device__ __forceinline__ bool operator()() const { return true; }
};

// How a consumer warpgroup sums its kTiles tiles of 64×block_n.
template <class Pairs, class Config>
struct Summation {
  static constexpr TensorConfig kConfig = Config::value;
  static constexpr int kTiles = kConfig.block_m / 128, kCount = kConfig.block_n / 2,
                       kStagedColumns = kConfig.block_m / 2;
  static constexpr bool kKahan = kConfig.kahan();
  static constexpr int kPromoted = Pairs::template kPromoted<kTiles>;
  // FP32 loses less if it adds fewer numbers in a row: where registers allow, chunks are added up
  // by fours first.
  static constexpr bool kTwoLevels =
      kTiles == 1 && kConfig.block_n == 128 && !kKahan && kPromoted == 1;
  static constexpr int kRecent = 4;

  using Factors = RowFactors<kStagedColumns, kTiles, 2 * kCount / kStagedColumns>;
};
template <class Pairs, class Config>
using SumsOf = float[Summation<Pairs, Config>::kTiles][Summation<Pairs, Config>::kCount];
template <class Pairs, class Config>
using LostOf = float[Summation<Pairs, Config>::kCount];  // what FP32 rounded away (Kahan)

// Adds the products of the next group, or of the first kBytes of 64 along k. The last group of a
// tile keeps its stage: the epilogue stages rows of C there.
template <class Pairs, class Config, int kBytes>
__device__ __forceinline__ void add_group(typename Config::Ring& ring, RingPlaceOf<Config>& at,
                                          int a_row, SumsOf<Pairs, Config>& sums,
                                          LostOf<Pairs, Config>& lost,
                                          SumsOf<Pairs, Config>& recent, bool is_last) {
  using S = Summation<Pairs, Config>;
  constexpr int kSharers = Config::value.sharers;
  if constexpr (S::kKahan) {
    parts::add_group_kahan<Pairs>(ring, at, a_row, sums[0], lost);
  } else if constexpr (S::kTwoLevels) {
    parts::add_groups<Pairs, 1, kBytes>(ring, at, a_row, kSharers, recent, is_last);
  } else {
    parts::add_groups<Pairs, 1, kBytes>(ring, at, a_row, kSharers, sums, is_last);
  }
}

// Adds the second level of sums to the first, and clears it.
template <int count>
__device__ WARPLADDER_INLINE_ON_GPU void add_and_clear(float (&sums)[count],
                                                       float (&recent)[count]) {
  WARPLADDER_UNROLL_ON_GPU
  for (int i = 0; i < count; ++i) sums[i] += recent[i], recent[i] = 0.0f;
}

// The epilogue of a tile.
template <class Pairs, class Config>
__device__ __forceinline__ void store_tile(
    typename Config::Ring& ring, const Gemm& g, const SplitGemm& split,
    const TileIterator<Config>& work, const RingPlaceOf<Config>& at, int a_row,
    [[maybe_unused]] const typename Summation<Pairs, Config>::Factors& factors,
    const SumsOf<Pairs, Config>& sums) {
  using S = Summation<Pairs, Config>;
  const TileOrigin origin = work.origin();
  const StagedRows<S::kStagedColumns> staged(ring.a[at.last_stage()] + a_row * 128);
  const TileOrigin corner{origin.row + a_row, origin.column};
  if constexpr (S::kConfig.blocks_k == 2) {
    exchange_and_store<Pairs, Config>(ring, g, split, work.rank, sums, corner, staged);
  } else if constexpr (S::kConfig.blocks_k > 1) {
    reduce_and_store_tile<Pairs, Config>(ring, g, split, work.rank, sums, a_row, origin);
  } else {
    if (work.is_transposed()) {
      store_transposed<Pairs>(g, split, sums, corner, work.schedule.transposed_end);
    } else if constexpr (S::kTiles > 1) {
      store_rows<Pairs>(g, split, factors, sums, corner, staged);
    } else {
      TileFactors<S::kCount> of_tile(g, split, corner);
      store_sums<Pairs>(g, split, of_tile, sums, corner, staged);
    }
    release_staging(ring, at.last_stage(), S::kConfig.sharers);
  }
}

// Computes the narrow tiles, which come last, in a loop of their own with fewer sums. Every group
// is promoted.
template <class Pairs, class Config, class Ask>
__device__ WARPLADDER_INLINE_ON_GPU void consume_narrow(typename Config::Ring& ring, const Gemm& g,
                                                        const SplitGemm& split,
                                                        TileIterator<Config> work,
                                                        RingPlaceOf<Config>& at, bool decided,
                                                        const Ask& may_continue) {
  using S = Summation<Pairs, Config>;
  constexpr int kNarrow = TileSchedule::kNarrow, kSharers = S::kConfig.sharers;
  const int a_row = ptx::warpgroup() * (S::kConfig.block_m / 2),
            groups = groups_of<Pairs>(split.a.k),
            undecided = undecided_chunks<Config>(work.schedule, chunks_of<Pairs>(split));
  for (; work.is_left(); work.advance()) {
    float sums[S::kTiles][kNarrow / 2] = {};
    const TileOrigin origin = work.origin(), corner{origin.row + a_row, origin.column};
    RowFactors<kNarrow, S::kTiles, 1> factors;
    factors.load(g, split, corner);
    for (int group = 1; group <= groups; ++group) {
      parts::add_groups<Pairs, 1>(ring, at, a_row, kSharers, sums, group == groups);
      if (decided || group != undecided * S::kConfig.groups) continue;
      decided = true;
      if (may_continue()) continue;
      if (group == groups) parts::release_stage(ring, at.last_stage(), kSharers);
      return;
    }
    if (!work.is_transposed()) {
      const StagedRows<kNarrow> staged(ring.a[at.last_stage()] + a_row * 128);
      store_rows<Pairs>(g, split, factors, sums, corner, staged);
    } else {
      store_transposed<Pairs>(g, split, sums, corner, work.schedule.transposed_end);
    }
    release_staging(ring, at.last_stage(), kSharers);
  }
}

// The consumers' main loop and epilogue, tile after tile; `at` is their place in the ring. Early in
// the first tile it asks may_continue(), and returns with nothing stored if it must not. tc_10
// begins on FP16 pairs before it knows that they suffice. Called by the consumers' threads.
//
// The two lambdas are no functions, and the loop over chunks is no function either: ptxas would
// then assign other registers in tc_10.
template <class Pairs, class Config, class Ask = AlwaysContinue>
__device__ WARPLADDER_INLINE_ON_GPU void consume(typename Config::Ring& ring, const Gemm& g,
                                                 const SplitGemm& split,
                                                 const TileSchedule& schedule,
                                                 RingPlaceOf<Config>& at,
                                                 const Ask& may_continue = {}) {
  using S = Summation<Pairs, Config>;
  constexpr int kGroups = S::kConfig.groups, kSharers = S::kConfig.sharers;
  const int a_row = ptx::warpgroup() * (S::kConfig.block_m / 2),
            groups = groups_of<Pairs>(split.a.k), chunks = chunks_of<Pairs>(split);
  bool decided = std::is_same_v<Ask, AlwaysContinue>;
  TileIterator<Config> work(schedule);
  for (; work.is_left() && !work.is_narrow(); work.advance()) {
    SumsOf<Pairs, Config> sums = {};
    [[maybe_unused]] LostOf<Pairs, Config> lost = {};
    [[maybe_unused]] SumsOf<Pairs, Config> recent = {};
    [[maybe_unused]] typename S::Factors factors;
    if constexpr (S::kTiles > 1) {  // load now, to hide the latency behind the products
      const TileOrigin origin = work.origin();
      factors.load(g, split, {origin.row + a_row, origin.column});
    }
    const auto add_next = [&]<int kBytes>(bool is_last) {
      add_group<Pairs, Config, kBytes>(ring, at, a_row, sums, lost, recent, is_last);
    };
    const auto add_recent = [&] { add_and_clear(sums[0], recent[0]); };
    const int first = work.first_chunk(chunks), end = work.end_chunk(chunks);
    const bool has_more = work.end_group(groups) > end * kGroups;
    const int ask_at = decided ? -1 : first + undecided_chunks<Config>(schedule, chunks) - 1;
    bool continues = true;
    for (int chunk = first; chunk < end; ++chunk) {
      const bool is_last = chunk + 1 == end && !has_more;
      if constexpr (S::kKahan || S::kPromoted == 1) {
        for (int group = 1; group <= kGroups; ++group) {
          add_next.template operator()<64>(is_last && group == kGroups);
        }
      } else {
        static_assert(S::kPromoted == kGroups);
        parts::add_groups<Pairs, kGroups>(ring, at, a_row, kSharers, sums, is_last);
      }
      if (S::kTwoLevels && (chunk - first) % S::kRecent == S::kRecent - 1) add_recent();
      if (chunk == ask_at) {
        decided = true;
        continues = may_continue();
        const bool keeps_stage = !continues && is_last && !S::kKahan;
        if (keeps_stage) parts::release_stage(ring, at.last_stage(), kSharers);
        if (!continues) break;
      }
    }
    if (!continues) return;
    if (has_more) {
      if (!S::kKahan && ends_in_half_group<Pairs>(split.a.k)) {
        add_next.template operator()<32>(true);
      } else {
        add_next.template operator()<64>(true);
      }
    }
    if (S::kTwoLevels) add_recent();
    store_tile<Pairs>(ring, g, split, work, at, a_row, factors, sums);
  }
  if constexpr (kSharers > 1) {
    consume_narrow<Pairs>(ring, g, split, work, at, decided, may_continue);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
