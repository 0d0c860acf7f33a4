#pragma once
// The two roles of a warp-specialised product, and how large its tiles are: for rungs that run them
// with more than one kind of pairs.

#include <type_traits>

#include "ops/sgemm/rung_tensor.hpp"
#include "parts/tensor_ring.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Tiles of block_m × 128. Blocks of a cluster lie beside each other along m or n and share what
// they load, or behind each other along k and share a tile.
struct TensorConfig {
  int cluster_m = 1, cluster_n = 1, blocks_k = 1, block_m = 256, stages = 4;
  static constexpr int block_n = 128, groups = 2, consumers = 256, threads = consumers + 128;
  constexpr int sharers() const { return cluster_m * cluster_n; }
  constexpr unsigned cluster() const { return sharers() * blocks_k; }
};
constexpr bool valid(TensorConfig c) {
  return c.block_m % 128 == 0 && c.sharers() <= 2 && c.blocks_k <= 8 &&
         (c.sharers() == 1 || c.blocks_k == 1);
}
// nvcc takes no struct by value as a template argument of a kernel, but this.
template <TensorConfig config>
struct WithConfig {
  static_assert(valid(config));
  static constexpr TensorConfig value = config;
  using Ring = parts::TileRing<config.block_m, config.block_n, config.stages>;
  // A row of sums in shared memory, a little longer, so that rows begin in different banks.
  static constexpr int kSumsRow = config.block_n + 8;
  static_assert(sizeof(float) * config.block_m * kSumsRow <= offsetof(Ring, full));
};

// Calls run.template operator()<config>() for the tiles that suit an m×n×k product. A GPU runs as
// many clusters of 2 as its multiprocessors hold, of 4 and 8 fewer, for a cluster lies within one
// of the chip's clusters of multiprocessors.
template <class Run>
void with_tensor_config(const Gemm& g, std::int64_t depth, const Run& run) {
  const auto count = [&](int block_m, int block_n) {
    return static_cast<unsigned>(TileOrder(g, block_m, block_n).count());
  };
  const auto rounds = [&](int block_m, int block_n) {
    return (count(block_m, block_n) + kTensorBlocks / 2 - 1) / (kTensorBlocks / 2);
  };
  const unsigned small = count(128, 128);
  if (small <= 12 && depth >= 1024) {
    run.template operator()<TensorConfig{1, 1, 8, 128, 6}>();
  } else if (small <= 28 && depth >= 512) {
    run.template operator()<TensorConfig{1, 1, 4, 128, 6}>();
  } else if (small <= 66 && depth >= 256) {
    run.template operator()<TensorConfig{1, 1, 2, 128, 6}>();
  } else if (small <= kTensorBlocks) {
    run.template operator()<TensorConfig{1, 1, 1, 128, 6}>();
  } else if (rounds(512, 128) < rounds(256, 256)) {
    run.template operator()<TensorConfig{2, 1, 1, 256, 4}>();
  } else {
    run.template operator()<TensorConfig{1, 2, 1, 256, 4}>();
  }
}

// What is promoted at a time: so many of them along k.
template <class Pairs>
__device__ __forceinline__ int chunks_of(const SplitGemm& split) {
  return static_cast<int>(split.depth / (Pairs::kDepth * TensorConfig::groups));
}

// The tiles that a block computes, one after the other, and its share of them along k.
template <class Wrapped>
struct TileWork {
  static constexpr TensorConfig kConfig = Wrapped::value;
  TileOrder order;
  int rank, tile, step;

  __device__ __forceinline__ explicit TileWork(const TileOrder& o)
      : order(o),
        rank(static_cast<int>(ptx::cluster_rank())),
        tile(blockIdx.x / kConfig.cluster()),
        step(gridDim.x / kConfig.cluster()) {}
  __device__ __forceinline__ bool is_left() const { return tile < order.count(); }
  __device__ __forceinline__ void advance() { tile += step; }
  __device__ __forceinline__ TilePlace place() const {
    const TilePlace at = order.place(tile);
    const int beside_m = kConfig.blocks_k > 1 ? 0 : rank % kConfig.cluster_m,
              beside_n = kConfig.blocks_k > 1 ? 0 : rank / kConfig.cluster_m;
    return {(at.row * kConfig.cluster_m + beside_m) * kConfig.block_m,
            (at.column * kConfig.cluster_n + beside_n) * kConfig.block_n};
  }
  __device__ __forceinline__ int first_chunk(int chunks) const {
    return kConfig.blocks_k > 1 ? chunks * rank / kConfig.blocks_k : 0;
  }
  __device__ __forceinline__ int end_chunk(int chunks) const {
    return kConfig.blocks_k > 1 ? chunks * (rank + 1) / kConfig.blocks_k : chunks;
  }
};

// Has the copy engine fill the ring with all that the block's tiles need, group by group. Used by
// one thread.
template <class Pairs, class Wrapped>
class Producer {
 public:
  __device__ __forceinline__ Producer(typename Wrapped::Ring& ring, const SplitGemm& split,
                                      const TileOrder& order,
                                      parts::RingPlace<Wrapped::Ring::kStages> at = {0, 1})
      : ring_(ring), chunks_(chunks_of<Pairs>(split)), work_(order), at_(at) {
    begin_tile();
  }
  __device__ __forceinline__ auto place() const { return at_; }
  __device__ __forceinline__ bool is_left() const { return work_.is_left(); }
  __device__ __forceinline__ void fetch_next(const device::TensorMap& a_map,
                                             const device::TensorMap& b_map) {
    using Ring = typename Wrapped::Ring;
    constexpr int kShareM = kConfig.block_m / kConfig.cluster_n,
                  kShareN = kConfig.block_n / kConfig.cluster_m;
    ptx::Barrier* const full = &ring_.full[at_.stage];
    ptx::wait(&ring_.empty[at_.stage], at_.parity);
    ptx::arrive_expecting(full, Ring::kABytes + Ring::kBBytes);
    fetch<kConfig.cluster_n>(ring_.a[at_.stage], a_map, full, place_.row, group_, kShareM,
                             work_.rank);
    fetch<kConfig.cluster_m>(ring_.b[at_.stage], b_map, full, place_.column, group_, kShareN,
                             work_.rank);
    at_.advance();
    if (++group_ == work_.end_chunk(chunks_) * kConfig.groups) {
      work_.advance();
      begin_tile();
    }
  }

 private:
  static constexpr TensorConfig kConfig = Wrapped::value;
  __device__ __forceinline__ void begin_tile() {
    place_ = work_.place();
    group_ = work_.first_chunk(chunks_) * kConfig.groups;
  }

  typename Wrapped::Ring& ring_;
  int chunks_, group_;
  TileWork<Wrapped> work_;
  TilePlace place_;
  parts::RingPlace<Wrapped::Ring::kStages> at_;
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

// Multiplies what comes and writes C; `at` is where in the ring. Early in the first tile it asks
// go_on() and leaves, with nothing written, if it must not. Called by the consumers' threads.
template <class Pairs, class Wrapped, class Ask = GoOn>
__device__ __forceinline__ void consume(typename Wrapped::Ring& ring, const Gemm& g,
                                        const SplitGemm& split, const TileOrder& order,
                                        parts::RingPlace<Wrapped::Ring::kStages>& at,
                                        const Ask& go_on = {}) {
  constexpr TensorConfig kConfig = Wrapped::value;
  constexpr int kTiles = kConfig.block_m / 128;
  const int a_row = ptx::warpgroup() * (kConfig.block_m / 2), chunks = chunks_of<Pairs>(split);
  bool decided = std::is_same_v<Ask, GoOn>;
  for (TileWork<Wrapped> work(order); work.is_left(); work.advance()) {
    float sums[kTiles][kConfig.block_n / 2] = {};
    const int end = work.end_chunk(chunks);
    const int ask_at =
        decided ? -1 : work.first_chunk(chunks) + undecided_chunks<Wrapped>(order, chunks) - 1;
    bool goes_on = true;
    for (int chunk = work.first_chunk(chunks); chunk < end; ++chunk) {
      parts::add_groups<Pairs, kConfig.groups>(ring, at, a_row, kConfig.sharers(), sums);
      if (chunk == ask_at) {
        decided = true;
        goes_on = go_on();
        if (!goes_on) break;
      }
    }
    if (!goes_on) return;
    const TilePlace place = work.place();
    if constexpr (kConfig.blocks_k > 1) {
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
      WARPLADDER_UNROLL_ON_GPU
      for (int t = 0; t < kTiles; ++t) {
        store_sums<Pairs>(g, split, sums[t], place.row + a_row + t * 64, place.column);
      }
    }
  }
}

// What the producer's warps do while consumers of blocks along k join their sums.
template <class Wrapped>
__device__ __forceinline__ void stand_by() {
  if constexpr (Wrapped::value.blocks_k > 1) {
    ptx::cluster_barrier();
    ptx::cluster_barrier();
  }
}

// The tiles of a cluster's sharers count as one; and blocks enough for all, or as many as run at
// the same time.
template <TensorConfig config>
TileOrder order_of(const Gemm& g) {
  return {g, config.block_m * config.cluster_m, config.block_n * config.cluster_n};
}
template <TensorConfig config>
unsigned blocks_of(const TileOrder& order) {
  return balanced(order.count(), kTensorBlocks / config.cluster()) * config.cluster();
}
template <TensorConfig config, class... Parameters, class... Arguments>
void launch_tiles(const Gemm& g, std::size_t shared_bytes, device::Stream& stream,
                  void (*kernel)(Parameters...), const Arguments&... arguments) {
  const TileOrder order = order_of<config>(g);
  device::launch(
      stream,
      {dim3(blocks_of<config>(order)), dim3(config.threads), shared_bytes, config.cluster(), true},
      kernel, arguments..., order);
}
// The maps of A and B for tiles of this size.
template <TensorConfig config>
device::TensorMap a_map_of(const SplitGemm& split, device::Target target) {
  return map_of(split.a, config.block_m / config.cluster_n, target);
}
template <TensorConfig config>
device::TensorMap b_map_of(const SplitGemm& split, device::Target target) {
  return map_of(split.b, config.block_n / config.cluster_m, target);
}

// The prediction of such a rung whose pass writes Pairs, `barriers_of_warp` each warp of the
// product's beside those over sums along k.
template <class Pairs>
ladder::Totals predict_tiles(const Problem& p, int barriers_of_warp,
                             Operands which = Operands::both) {
  const Gemm g = sizes_of(p);
  ladder::Totals t;
  with_tensor_config(g, parts::padded_depth(g.k), [&]<TensorConfig config>() {
    using Ring = typename WithConfig<config>::Ring;
    const TileOrder order = order_of<config>(g);
    const std::int64_t count = order.count();
    const std::uint64_t warps =
                            TensorConfig::threads / 32 * std::uint64_t{blocks_of<config>(order)},
                        barriers = barriers_of_warp + (config.blocks_k > 1 ? 2 : 0);
    t = predict_tensor<Pairs>(
        p, count * config.sharers() * config.block_m * config.block_n, 3,
        count * (config.cluster_m * Ring::kABytes + config.cluster_n * Ring::kBBytes),
        warps * barriers, which);
  });
  return t;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
