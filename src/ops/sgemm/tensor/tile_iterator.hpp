#pragma once
// The tiles that one persistent thread block computes, one after the other, and the block's share
// of each along k. Producer and consumers walk through the same tiles, each with its own iterator.

#include "ops/sgemm/tensor/tile_schedule.hpp"
#include "ops/sgemm/tensor/workspace.hpp"
#include "parts/ptx/cluster.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

template <class Config>
struct TileIterator {
  static constexpr TensorConfig kConfig = Config::value;
  TileSchedule schedule;
  int rank, tile, step, end;

  __device__ __forceinline__ explicit TileIterator(const TileSchedule& s)
      : schedule(s),
        rank(static_cast<int>(ptx::cluster_rank())),
        tile(blockIdx.x / kConfig.cluster()),
        step(gridDim.x / kConfig.cluster()),
        end(s.count()) {
    if (kConfig.sharers == 1 || schedule.edge_workers == 0) return;
    const int full_width_workers = step - schedule.edge_workers;
    const bool is_edge_worker = tile >= full_width_workers;
    step = is_edge_worker ? schedule.edge_workers : full_width_workers;
    tile += is_edge_worker ? schedule.full_width() - full_width_workers : 0;
    end -= is_edge_worker ? 0 : schedule.narrow;
  }
  __device__ __forceinline__ bool is_left() const { return tile < end; }
  __device__ __forceinline__ void advance() { tile += step; }
  // The cluster's blocks share no loads.
  __device__ __forceinline__ bool is_unpaired() const {
    return kConfig.sharers > 1 && tile >= schedule.paired();
  }
  // The tile is one of C's transpose: A and B exchange roles.
  __device__ __forceinline__ bool is_transposed() const {
    return kConfig.sharers > 1 && tile >= schedule.paired() + schedule.column_edge;
  }
  __device__ __forceinline__ bool is_narrow() const {
    return kConfig.sharers > 1 && tile >= schedule.full_width();
  }
  // The first element of this block's tile, in C or, if is_transposed(), in C's transpose.
  __device__ __forceinline__ TileOrigin origin() const {
    constexpr int kSharers = kConfig.sharers;
    const int sharer = kSharers > 1 ? rank : 0;
    if (is_transposed()) {
      return {
          ((tile - schedule.paired() - schedule.column_edge) * kSharers + sharer) * kConfig.block_m,
          schedule.tiles_m * kConfig.block_m};
    }
    if (is_unpaired()) {
      return {((tile - schedule.paired()) * kSharers + sharer) * kConfig.block_m,
              schedule.tiles_n * kSharers * kConfig.block_n};
    }
    const TileIndex index = schedule.index(tile);
    return {index.row * kConfig.block_m, (index.column * kSharers + sharer) * kConfig.block_n};
  }
  __device__ __forceinline__ int first_chunk(int chunks) const {
    return kConfig.blocks_k > 1 ? chunks * rank / kConfig.blocks_k : 0;
  }
  __device__ __forceinline__ int end_chunk(int chunks) const {
    return kConfig.blocks_k > 1 ? chunks * (rank + 1) / kConfig.blocks_k : chunks;
  }
  // The last block also takes the group that fills no chunk.
  __device__ __forceinline__ int end_group(int groups) const {
    const int chunks = groups / kConfig.groups, end = end_chunk(chunks);
    return end == chunks ? groups : end * kConfig.groups;
  }
};

// k consists of chunks of TensorConfig::groups groups, and possibly one group more.
template <class Pairs>
__device__ __forceinline__ int chunks_of(const SplitGemm& split) {
  return groups_of<Pairs>(split.a.k) / TensorConfig::groups;
}

// Whether that one group more holds elements of k only in its first half.
template <class Pairs>
__host__ __device__ __forceinline__ bool ends_in_half_group(std::int64_t k) {
  const int groups = groups_of<Pairs>(k);
  return groups % TensorConfig::groups != 0 && 2 * k <= (2 * groups - 1) * Pairs::kDepth;
}

// How many chunks of its first tile a consumer multiplies before it asks whether to continue.
template <class Config>
__device__ __forceinline__ int undecided_chunks(const TileSchedule& schedule, int chunks) {
  constexpr int kMost = 4;
  const TileIterator<Config> work(schedule);
  const int own = work.end_chunk(chunks) - work.first_chunk(chunks);
  return own < kMost ? own : kMost;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
