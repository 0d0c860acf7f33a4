#pragma once
// How a persistent warp-specialised product is launched: its tensor maps, its grid, its clusters.

#include "ops/sgemm/tensor/config.hpp"
#include "ops/sgemm/tensor/tile_load.hpp"
#include "ops/sgemm/tensor/tile_schedule.hpp"
#include "ops/sgemm/tensor/workspace.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Launches the kernel with as many thread blocks as the schedule asks for. The schedule is the
// kernel's last argument.
template <TensorConfig config, class... Parameters, class... Arguments>
void launch_tiles(const Gemm& g, std::size_t shared_bytes, runtime::StreamView& stream,
                  void (*kernel)(Parameters...), const Arguments&... arguments) {
  const TileSchedule schedule = schedule_of<config>(g, *stream.machine);
  runtime::launch(stream,
                  {dim3(blocks_of<config>(schedule, *stream.machine)), dim3(config.threads),
                   shared_bytes, config.cluster(), true},
                  kernel, arguments..., schedule);
}

// The tensor maps of A and B for these tiles. Sharers each load their part of A's tile.
template <TensorConfig config>
runtime::TensorMap a_map_of(const SplitGemm& split, runtime::StreamView& stream) {
  return map_of(split.a, config.block_m / config.sharers, stream);
}
template <TensorConfig config>
runtime::TensorMap b_map_of(const SplitGemm& split, runtime::StreamView& stream) {
  return map_of(split.b, config.block_n, stream);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
