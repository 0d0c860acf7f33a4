#pragma once
// The two roles of a warp-specialised product, and how large its tiles are: for rungs that run them
// with more than one kind of pairs.

#include <type_traits>

#include "ops/sgemm/rung_tensor_rows.hpp"
#include "parts/ptx/named_barrier.hpp"
#include "parts/ptx/store_async.hpp"
#include "parts/tensor_ring.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Tiles of block_m × 128. The blocks of a cluster lie beside each other along n and share what they
// load of A, or behind each other along k and share a tile.
struct TensorConfig {
  int sharers = 1, blocks_k = 1, block_m = 256, stages = 4;
  static constexpr int block_n = 128, groups = 2, consumers = 256, threads = consumers + 128;
  constexpr unsigned cluster() const { return sharers * blocks_k; }
};
constexpr bool valid(TensorConfig c) {
  return c.block_m % 128 == 0 && c.sharers <= 2 && c.blocks_k <= 8 &&
         (c.sharers == 1 || c.blocks_k == 1);
}
// nvcc takes no struct by value as a template argument of a kernel, but this.
template <TensorConfig config>
struct WithConfig {
  static_assert(valid(config));
  static constexpr TensorConfig value = config;
  using TileRing = parts::TileRing<config.block_m, config.block_n, config.stages>;
  // Where two blocks share a tile along k, the sums that come from the other one as well. Nowhere
  // else, for a few KiB more of shared memory would halve the L1 cache, and what a pass has in
  // flight.
  struct JoiningRing : TileRing {
    float4 joined[config.block_n / 16][config.consumers];
    ptx::Barrier all_joined[2];  // of a warpgroup's, the bytes have come

    // Called by one thread; a barrier of all users follows.
    __device__ __forceinline__ void init(unsigned consumers) {
      for (ptx::Barrier& barrier : all_joined) ptx::barrier_init(&barrier, 1);
      TileRing::init(consumers);
      for (ptx::Barrier& barrier : all_joined) ptx::arrive_expecting(&barrier, sizeof joined / 2);
    }
  };
  using Ring = std::conditional_t<config.blocks_k == 2, JoiningRing, TileRing>;
  // A row of sums in shared memory, a little longer, so that rows begin in different banks.
  static constexpr int kSumsRow = config.block_n + 8;
  static_assert(sizeof(float) * config.block_m * kSumsRow <= offsetof(TileRing, full));
};

// Calls run.template operator()<config>() for the tiles that suit an m×n×k product. A GPU runs as
// many clusters of 2 as its multiprocessors hold, of 4 and 8 fewer, for a cluster lies within one
// of the chip's clusters of multiprocessors.
template <class Run>
void with_tensor_config(const Gemm& g, std::int64_t depth, const runtime::Machine& machine,
                        const Run& run) {
  // Thresholds are in tiles for each 132 multiprocessors, an H200's.
  const std::int64_t multiprocessors = machine.multiprocessors;
  const std::int64_t small = tiles(g.m, 128) * tiles(g.n, 128);
  if (132 * small <= 12 * multiprocessors && depth >= 1024) {
    run.template operator()<TensorConfig{1, 8, 128, 6}>();
  } else if (132 * small <= 28 * multiprocessors && depth >= 512) {
    run.template operator()<TensorConfig{1, 4, 128, 6}>();
  } else if (2 * small <= multiprocessors && depth >= 256) {
    run.template operator()<TensorConfig{1, 2, 128, 6}>();
  } else if (2 * small <= 3 * multiprocessors) {  // two rounds of these, or one of larger ones
    run.template operator()<TensorConfig{1, 1, 128, 6}>();
  } else {
    run.template operator()<TensorConfig{2, 1, 256, 4}>();
  }
}

// Chunks of so many groups along k, and maybe one group more.
template <class Pairs>
__device__ __forceinline__ int chunks_of(const SplitGemm& split) {
  return groups_of<Pairs>(split.a.k) / TensorConfig::groups;
}

// The tiles that a block computes, one after the other, and its share of them along k.
template <class Wrapped>
struct TileWork {
  static constexpr TensorConfig kConfig = Wrapped::value;
  TileOrder order;
  int rank, tile, step, end;

  __device__ __forceinline__ explicit TileWork(const TileOrder& o)
      : order(o),
        rank(static_cast<int>(ptx::cluster_rank())),
        tile(blockIdx.x / kConfig.cluster()),
        step(gridDim.x / kConfig.cluster()),
        end(o.count()) {
    if (kConfig.sharers == 1 || order.apart == 0) return;
    const int of_whole = step - order.apart;
    const bool is_apart = tile >= of_whole;
    step = is_apart ? order.apart : of_whole;
    tile += is_apart ? order.whole() - of_whole : 0;
    end -= is_apart ? 0 : order.thin;
  }
  __device__ __forceinline__ bool is_left() const { return tile < end; }
  __device__ __forceinline__ void advance() { tile += step; }
  // Whether the cluster's blocks share nothing; and whether they work on C's transpose, rows of A
  // and columns of B exchanged.
  __device__ __forceinline__ bool is_alone() const {
    return kConfig.sharers > 1 && tile >= order.beside();
  }
  __device__ __forceinline__ bool is_turned() const {
    return kConfig.sharers > 1 && tile >= order.beside() + order.below;
  }
  __device__ __forceinline__ bool is_thin() const {
    return kConfig.sharers > 1 && tile >= order.whole();
  }
  __device__ __forceinline__ TilePlace place() const {
    constexpr int kSharers = kConfig.sharers;
    const int of_sharers = kSharers > 1 ? rank : 0;
    if (is_turned()) {
      return {((tile - order.beside() - order.below) * kSharers + of_sharers) * kConfig.block_m,
              order.tiles_m * kConfig.block_m};
    }
    if (is_alone()) {
      return {((tile - order.beside()) * kSharers + of_sharers) * kConfig.block_m,
              order.tiles_n * kSharers * kConfig.block_n};
    }
    const TilePlace at = order.place(tile);
    return {at.row * kConfig.block_m, (at.column * kSharers + of_sharers) * kConfig.block_n};
  }
  __device__ __forceinline__ int first_chunk(int chunks) const {
    return kConfig.blocks_k > 1 ? chunks * rank / kConfig.blocks_k : 0;
  }
  __device__ __forceinline__ int end_chunk(int chunks) const {
    return kConfig.blocks_k > 1 ? chunks * (rank + 1) / kConfig.blocks_k : chunks;
  }
  // The groups behind the chunks are the last block's.
  __device__ __forceinline__ int end_group(int groups) const {
    const int chunks = groups / kConfig.groups, end = end_chunk(chunks);
    return end == chunks ? groups : end * kConfig.groups;
  }
};

// Whether the last group holds no more of k than its first half, and is not one of a chunk's.
template <class Pairs>
__host__ __device__ __forceinline__ bool ends_in_half_group(std::int64_t k) {
  const int groups = groups_of<Pairs>(k);
  return groups % TensorConfig::groups != 0 && 2 * k <= (2 * groups - 1) * Pairs::kDepth;
}

// Has the copy engine fill the ring with all that the block's tiles need, group by group. Used by
// one thread.
template <class Pairs, class Wrapped>
class Producer {
 public:
  __device__ __forceinline__ Producer(typename Wrapped::Ring& ring, const SplitGemm& split,
                                      const TileOrder& order,
                                      parts::RingPlace<Wrapped::Ring::kStages> at = {0, 1})
      : ring_(ring), groups_(groups_of<Pairs>(split.a.k)), work_(order), at_(at) {
    begin_tile();
  }
  __device__ __forceinline__ auto place() const { return at_; }
  __device__ __forceinline__ bool is_left() const { return work_.is_left(); }
  __device__ __forceinline__ void fetch_next(const runtime::TensorMap& a_map,
                                             const runtime::TensorMap& b_map) {
    using Ring = typename Wrapped::Ring;
    constexpr int kShare = kConfig.block_m / kConfig.sharers;  // a box of A
    const int stage = at_.stage;
    ptx::Barrier* const full = &ring_.full[stage];
    ptx::wait(&ring_.empty[stage], at_.parity);
    ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
    static_assert(kConfig.sharers == 1 || kShare == kConfig.block_n);  // the boxes are alike
    if (alone_) {
      for (int row = 0; row < kConfig.block_m; row += kShare) {
        fetch<1>(ring_.a[stage] + row * 128, turned_ ? b_map : a_map, full, place_.row + row,
                 group_);
      }
    } else {
      fetch<kConfig.sharers>(ring_.a[stage], a_map, full, place_.row, group_, kShare, work_.rank);
    }
    fetch<1>(ring_.b[stage], turned_ ? a_map : b_map, full, place_.column, group_);
    at_.advance();
    if (++group_ == end_) {
      work_.advance();
      begin_tile();
    }
  }

 private:
  static constexpr TensorConfig kConfig = Wrapped::value;
  __device__ __forceinline__ void begin_tile() {
    if (!work_.is_left()) return;
    place_ = work_.place();
    alone_ = work_.is_alone();
    turned_ = work_.is_turned();
    group_ = work_.first_chunk(groups_ / kConfig.groups) * kConfig.groups;
    end_ = work_.end_group(groups_);
  }

  typename Wrapped::Ring& ring_;
  int groups_, group_ = 0, end_ = 0;
  TileWork<Wrapped> work_;
  TilePlace place_{};
  bool alone_ = false, turned_ = false;
  parts::RingPlace<Wrapped::Ring::kStages> at_;
};

// The consumers as those who split operands by tickets.
struct Crew {
  static constexpr int kBarrier = 1;
  static constexpr bool leaves = false;
  __device__ __forceinline__ void operator()() const {
    ptx::named_barrier<kBarrier, TensorConfig::consumers>();
  }
  __device__ __forceinline__ void keep(const parts::SplitOperand&, unsigned, parts::Spread) const {}
  __device__ __forceinline__ void look() const {}
  __device__ __forceinline__ bool has_enough() const { return false; }
  // The same, with a warp's lanes together behind it: in front of what they do together.
  __device__ __forceinline__ void meet() const {
    ptx::named_barrier_together<kBarrier, TensorConfig::consumers>();
  }
};

// The chunks of its first tile that a consumer multiplies before it asks whether to go on.
constexpr int kUndecidedChunks = 4;
struct GoOn {
  __device__ __forceinline__ bool operator()() const { return true; }
};
// As many as that, or as the block's part of the tile has.
template <class Wrapped>
__device__ __forceinline__ int undecided_chunks(const TileOrder& order, int chunks) {
  const TileWork<Wrapped> work(order);
  const int mine = work.end_chunk(chunks) - work.first_chunk(chunks);
  return mine < kUndecidedChunks ? mine : kUndecidedChunks;
}

// How a cluster's blocks come together, called by all threads. Blocks that share nothing but their
// sums do not wait for each other in front: the barrier that tells that the other block has begun
// stays open until the sums are handed over. Each waits for the other one's, and for nothing
// behind that.
template <class Wrapped>
constexpr bool kJoinsPairs = Wrapped::value.blocks_k == 2;
// The ring's barriers are set up.
template <class Wrapped>
__device__ __forceinline__ void begin_cluster() {
  if constexpr (kJoinsPairs<Wrapped>) {
    __syncthreads();
    ptx::cluster_arrive_relaxed();
  } else {
    ptx::cluster_barrier();
  }
}
// In between, before the sums.
template <class Wrapped>
__device__ __forceinline__ void meet_cluster() {
  if constexpr (kJoinsPairs<Wrapped>) ptx::cluster_wait();
  ptx::cluster_barrier();
  if constexpr (kJoinsPairs<Wrapped>) ptx::cluster_arrive();
}
// No block ends while another one still reaches into it.
template <class Wrapped>
__device__ __forceinline__ void end_cluster() {
  if constexpr (!kJoinsPairs<Wrapped>) ptx::cluster_barrier();
}

// The stage that a consumer has kept, to stage rows of C in, is the copy engine's again.
template <class Ring>
__device__ __forceinline__ void give_back_staged(Ring& ring, int stage, int cluster) {
  ptx::fence_async_proxy_of_shared();
  __syncwarp();
  parts::give_back(ring, stage, cluster);
}

// consume() for the tiles at the end, which are thin. Each group is promoted.
template <class Pairs, class Wrapped, class Ask>
__device__ __forceinline__ void consume_thin(typename Wrapped::Ring& ring, const Gemm& g,
                                             const SplitGemm& split, TileWork<Wrapped> work,
                                             parts::RingPlace<Wrapped::Ring::kStages>& at,
                                             bool decided, const Ask& go_on) {
  constexpr TensorConfig kConfig = Wrapped::value;
  constexpr int kTiles = kConfig.block_m / 128, kSharers = kConfig.sharers;
  const int a_row = ptx::warpgroup() * (kConfig.block_m / 2), groups = groups_of<Pairs>(split.a.k),
            asked = undecided_chunks<Wrapped>(work.order, chunks_of<Pairs>(split));
  for (; work.is_left(); work.advance()) {
    float sums[kTiles][TileOrder::kThin / 2] = {};
    const TilePlace place = work.place(), corner{place.row + a_row, place.column};
    RowFactors<TileOrder::kThin, kTiles, 1> factors;
    factors.load(g, split, corner);
    for (int group = 1; group <= groups; ++group) {
      parts::add_groups<Pairs, 1>(ring, at, a_row, kSharers, sums, group == groups);
      if (decided || group != asked * kConfig.groups) continue;
      decided = true;
      if (go_on()) continue;
      if (group == groups) parts::give_back(ring, at.last_stage(), kSharers);
      return;
    }
    if (!work.is_turned()) {
      const StagedRows<TileOrder::kThin> staged(ring.a[at.last_stage()] + a_row * 128);
      store_rows<Pairs>(g, split, factors, sums, corner, staged);
    } else {
      store_turned<Pairs>(g, split, sums, corner, work.order.turned_end);
    }
    give_back_staged(ring, at.last_stage(), kSharers);
  }
}

// Multiplies what comes and writes C; `at` is where in the ring. Early in the first tile it asks
// go_on() and leaves, with nothing written, if it must not. Called by the consumers' threads.
template <class Pairs, class Wrapped, class Ask = GoOn>
__device__ __forceinline__ void consume(typename Wrapped::Ring& ring, const Gemm& g,
                                        const SplitGemm& split, const TileOrder& order,
                                        parts::RingPlace<Wrapped::Ring::kStages>& at,
                                        const Ask& go_on = {}) {
  constexpr TensorConfig kConfig = Wrapped::value;
  constexpr int kTiles = kConfig.block_m / 128, kCount = kConfig.block_n / 2,
                kSharers = kConfig.sharers;
  constexpr bool kWithCare = kConfig.blocks_k > 2;
  constexpr int kPromoted = Pairs::template kPromoted<kTiles>;
  const int a_row = ptx::warpgroup() * (kConfig.block_m / 2), groups = groups_of<Pairs>(split.a.k),
            chunks = chunks_of<Pairs>(split);
  // The fewer numbers FP32 adds up one after the other, the less it loses; where registers allow
  // it, chunks are added up by fours first.
  constexpr int kRecent = 4;
  constexpr bool kInTwoSteps = kTiles == 1 && !kWithCare && kPromoted == 1;
  bool decided = std::is_same_v<Ask, GoOn>;
  TileWork<Wrapped> work(order);
  for (; work.is_left() && !work.is_thin(); work.advance()) {
    float sums[kTiles][kCount] = {};
    [[maybe_unused]] float lost[kCount] = {};
    [[maybe_unused]] float recent[kTiles][kCount] = {};
    // Asked for now, for a load takes its time.
    constexpr int kStaged = kConfig.block_m / 2;
    [[maybe_unused]] RowFactors<kStaged, kTiles, 2 * kCount / kStaged> factors;
    if constexpr (kTiles > 1) {
      const TilePlace place = work.place();
      factors.load(g, split, {place.row + a_row, place.column});
    }
    // The last stage is kept, for rows of C on their way.
    const auto add_group = [&]<int kBytes>(bool is_last) {
      if constexpr (kWithCare) {
        parts::add_group_with_care<Pairs>(ring, at, a_row, sums[0], lost);
      } else if constexpr (kInTwoSteps) {
        parts::add_groups<Pairs, 1, kBytes>(ring, at, a_row, kSharers, recent, is_last);
      } else {
        parts::add_groups<Pairs, 1, kBytes>(ring, at, a_row, kSharers, sums, is_last);
      }
    };
    const auto add_recent = [&] {
      WARPLADDER_UNROLL_ON_GPU
      for (int i = 0; i < kCount; ++i) sums[0][i] += recent[0][i], recent[0][i] = 0.0f;
    };
    const int first = work.first_chunk(chunks), end = work.end_chunk(chunks);
    const bool has_more = work.end_group(groups) > end * kConfig.groups;
    const int ask_at = decided ? -1 : first + undecided_chunks<Wrapped>(order, chunks) - 1;
    bool goes_on = true;
    for (int chunk = first; chunk < end; ++chunk) {
      const bool is_last = chunk + 1 == end && !has_more;
      if constexpr (kWithCare || kPromoted == 1) {
        for (int group = 1; group <= kConfig.groups; ++group) {
          add_group.template operator()<64>(is_last && group == kConfig.groups);
        }
      } else {
        static_assert(kPromoted == kConfig.groups);
        parts::add_groups<Pairs, kConfig.groups>(ring, at, a_row, kSharers, sums, is_last);
      }
      if (kInTwoSteps && (chunk - first) % kRecent == kRecent - 1) add_recent();
      if (chunk == ask_at) {
        decided = true;
        goes_on = go_on();
        if (!goes_on && is_last && !kWithCare) parts::give_back(ring, at.last_stage(), kSharers);
        if (!goes_on) break;
      }
    }
    if (!goes_on) return;
    if (has_more) {
      if (!kWithCare && ends_in_half_group<Pairs>(split.a.k)) {
        add_group.template operator()<32>(true);
      } else {
        add_group.template operator()<64>(true);
      }
    }
    if (kInTwoSteps) add_recent();
    const TilePlace place = work.place();
    // Nobody reads the kept stage any more.
    const StagedRows<kStaged> staged(ring.a[at.last_stage()] + a_row * 128);
    if constexpr (kConfig.blocks_k == 2) {
      // Each block finishes half of the columns; the other half's sums go to the other block,
      // thread by thread.
      constexpr int kHalf = kConfig.block_n / 4;
      const TilePlace corner{place.row + a_row, place.column + work.rank * 2 * kHalf};
      TileFactors<kHalf> of_half(g, split, corner);
      float kept[1][kHalf];
      const auto exchange = [&]<int kKept>(std::integral_constant<int, kKept>) {
        const float* const others = &sums[0][kHalf - kKept];
        ptx::Barrier* const joined = &ring.all_joined[ptx::warpgroup()];
        ptx::Barrier* const joined_there = ptx::in_block(joined, work.rank ^ 1);
        float4* const to = ptx::in_block(&ring.joined[0][threadIdx.x], work.rank ^ 1);
        ptx::cluster_wait();  // the other block has begun
        WARPLADDER_UNROLL_ON_GPU
        for (int i = 0; i < kHalf; i += 4) {
          ptx::store_async(to + i / 4 * kConfig.consumers, joined_there,
                           make_float4(others[i], others[i + 1], others[i + 2], others[i + 3]));
        }
        ptx::wait(joined, 0);  // the block has no other tile
        WARPLADDER_UNROLL_ON_GPU
        for (int i = 0; i < kHalf; i += 4) {
          const float4 more = ring.joined[i / 4][threadIdx.x];
          const float* const own = &sums[0][kKept + i];
          kept[0][i] = own[0] + more.x, kept[0][i + 1] = own[1] + more.y;
          kept[0][i + 2] = own[2] + more.z, kept[0][i + 3] = own[3] + more.w;
        }
      };
      if (work.rank == 0) {
        exchange(std::integral_constant<int, 0>());
      } else {
        exchange(std::integral_constant<int, kHalf>());
      }
      store_sums<Pairs>(g, split, of_half, kept, corner, staged);
    } else if constexpr (kConfig.blocks_k > 1) {
      auto* const kept = reinterpret_cast<float*>(ring.a);
      ptx::cluster_barrier();  // nobody reads the ring any more
      WARPLADDER_UNROLL_ON_GPU
      for (int t = 0; t < kTiles; ++t) {
        keep_sums(sums[t], kept + (a_row + t * 64) * Wrapped::kSumsRow, Wrapped::kSumsRow);
      }
      ptx::cluster_barrier();  // all blocks' sums are there
      add_and_store<Pairs, kConfig.blocks_k, kConfig.block_m, kConfig.consumers>(
          g, split, kept, Wrapped::kSumsRow, work.rank, place.row, place.column);
    } else {
      const TilePlace corner{place.row + a_row, place.column};
      if (work.is_turned()) {
        store_turned<Pairs>(g, split, sums, corner, order.turned_end);
      } else if constexpr (kTiles > 1) {
        store_rows<Pairs>(g, split, factors, sums, corner, staged);
      } else {
        TileFactors<kCount> of_tile(g, split, corner);
        store_sums<Pairs>(g, split, of_tile, sums, corner, staged);
      }
      give_back_staged(ring, at.last_stage(), kSharers);
    }
  }
  if constexpr (kConfig.sharers > 1) {
    consume_thin<Pairs>(ring, g, split, work, at, decided, go_on);
  }
}

// What the producer's warps do while consumers of blocks along k join their sums.
template <class Wrapped>
__device__ __forceinline__ void stand_by() {
  if constexpr (kJoinsPairs<Wrapped>) {
    ptx::cluster_wait();
  } else if constexpr (Wrapped::value.blocks_k > 2) {
    ptx::cluster_barrier();
    ptx::cluster_barrier();
  }
}

// Clusters that run at the same time.
template <TensorConfig config>
unsigned most_workers(const runtime::Machine& machine) {
  const unsigned workers = static_cast<unsigned>(machine.multiprocessors) / config.cluster();
  return workers > 0 ? workers : 1;
}
// Whether the last round of the whole tiles has room for the thin ones, or these are all there is.
template <TensorConfig config>
bool has_room(const TileOrder& order, const runtime::Machine& machine) {
  const unsigned most = most_workers<config>(machine);
  const int whole = order.whole();
  return whole == 0 || tiles(whole, static_cast<int>(most)) * most >= order.count();
}
// The tiles of a cluster's sharers count as one.
template <TensorConfig config>
TileOrder order_of(const Gemm& g, const runtime::Machine& machine) {
  TileOrder order(g, config.block_m, config.block_n, config.sharers);
  // A thin tile takes some 0.6 of a whole one's time. Thin ones go to the workers that whole ones
  // leave idle, if these are done before; or they come last.
  const unsigned most = most_workers<config>(machine), spare = most - balanced(order.whole(), most);
  if (spare > 0 && 6 * tiles(order.thin, spare) < 10 * tiles(order.whole(), most) + 6) {
    order.apart = static_cast<int>(balanced(order.thin, spare));
  }
  return order;
}
// Blocks enough for all, or as many as run at the same time.
template <TensorConfig config>
unsigned blocks_of(const TileOrder& order, const runtime::Machine& machine) {
  const unsigned most = most_workers<config>(machine);
  return (order.apart == 0 && has_room<config>(order, machine)
              ? balanced(order.count(), most)
              : balanced(order.whole(), most) + order.apart) *
         config.cluster();
}
template <TensorConfig config, class... Parameters, class... Arguments>
void launch_tiles(const Gemm& g, std::size_t shared_bytes, runtime::StreamView& stream,
                  void (*kernel)(Parameters...), const Arguments&... arguments) {
  const TileOrder order = order_of<config>(g, *stream.machine);
  runtime::launch(stream,
                  {dim3(blocks_of<config>(order, *stream.machine)), dim3(config.threads),
                   shared_bytes, config.cluster(), true},
                  kernel, arguments..., order);
}
// The maps of A and B for tiles of this size.
template <TensorConfig config>
runtime::TensorMap a_map_of(const SplitGemm& split, runtime::StreamView& stream) {
  return map_of(split.a, config.block_m / config.sharers, stream);
}
template <TensorConfig config>
runtime::TensorMap b_map_of(const SplitGemm& split, runtime::StreamView& stream) {
  return map_of(split.b, config.block_n, stream);
}

// The prediction of such a rung whose pass writes Pairs, `barriers_of_warp` each warp of the
// product's beside those over sums along k.
template <class Pairs>
ladder::Totals predict_tiles(const Problem& p, const runtime::Machine& machine,
                             int barriers_of_warp, Operands which = Operands::both,
                             Pass pass = Pass::own_kernel) {
  const Gemm g = sizes_of(p);
  ladder::Totals t;
  with_tensor_config(g, parts::padded_depth(g.k), machine, [&]<TensorConfig config>() {
    using Ring = typename WithConfig<config>::Ring;
    const TileOrder order = order_of<config>(g, machine);
    const std::int64_t count = order.count();
    const bool tickets = pass == Pass::by_tickets;
    // Of sums along k; of two blocks that meet once more in between.
    const int of_sums = config.blocks_k > 2 ? 2 : 0,
              in_between = config.blocks_k == 2 && tickets ? 1 : 0;
    const std::uint64_t warps = TensorConfig::threads / 32 *
                                std::uint64_t{blocks_of<config>(order, machine)},
                        barriers = barriers_of_warp + of_sums + in_between,
                        // no more tickets, all written
        of_tickets = tickets ? 2 * parts::kSplitWarps : 0;
    const std::int64_t area = (count * config.block_n -
                               order.thin * (config.block_n - TileOrder::kThin)) *
                              config.sharers * config.block_m,
                       groups = groups_of<Pairs>(p.k);
    const int products = config.blocks_k > 2 ? 4 : 3;
    t = predict_tensor<Pairs>(
        p, machine, groups, area, products,
        order.beside() * (Ring::kABytes + config.sharers * Ring::kBBytes) +
            (count - order.beside()) * config.sharers * (Ring::kABytes + Ring::kBBytes),
        warps * barriers + of_tickets * blocks_of<config>(order, machine), which, pass);
    if (config.blocks_k <= 2 && ends_in_half_group<Pairs>(p.k)) {
      t.tensor_fmas -= std::int64_t{order.whole()} * config.sharers * config.block_m *
                       config.block_n * Pairs::kDepth / 2 * products;
    }
  });
  return t;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
