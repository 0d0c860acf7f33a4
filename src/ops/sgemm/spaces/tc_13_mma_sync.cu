// The space of tc_13: blocks' tiles, warps' shares of them, stages, and blocks on a multiprocessor.

#include <algorithm>
#include <array>

#include "ladder/space.hpp"
#include "ops/sgemm/rung_by_warps.hpp"

namespace warpladder::sgemm {
namespace {

// A thread of a warp's tile holds its sums, the factors of its rows, and some addresses.
constexpr int least_registers(WarpConfig c) {
  return c.warp_m() * c.warp_n() / 32 + c.warp_m() + 48;
}
constexpr bool suits(WarpConfig c) {
  constexpr std::size_t kOfMultiprocessor = 228 << 10, kKeptBack = 1024, kOfBlock = 227 << 10;
  return valid(c) && c.threads() % 64 == 0 && c.registers() >= least_registers(c) &&
         c.ring_bytes() + 64 <= kOfBlock &&
         c.blocks * (c.ring_bytes() + kKeptBack) <= kOfMultiprocessor;
}

// The ones that suit among these values; `visit` gets each.
template <class Visit>
constexpr void for_configs(const Visit& visit) {
  constexpr int kTiles[][4] = {
      {64, 64, 2, 2},  {64, 64, 1, 2},   {64, 128, 2, 2},  {64, 128, 1, 2},  {128, 64, 2, 2},
      {128, 64, 2, 1}, {128, 128, 2, 2}, {128, 128, 2, 4}, {128, 256, 2, 4}, {256, 128, 4, 2}};
  for (const auto& [block_m, block_n, warps_m, warps_n] : kTiles) {
    const bool is_large = block_m * block_n > 128 * 128;
    for (int stages : {3, 4}) {
      for (int blocks : {1, 2, 3, 4}) {
        const WarpConfig config{block_m, block_n, warps_m, warps_n, stages, blocks};
        if (suits(config) && (blocks > 1 || is_large || config == kMiddle)) visit(config);
      }
    }
  }
}
constexpr int kCount = [] {
  int count = 0;
  for_configs([&](WarpConfig) { ++count; });
  return count;
}();
constexpr auto kConfigs = [] {
  std::array<WarpConfig, kCount> configs{};
  int at = 0;
  for_configs([&](WarpConfig config) { configs[at++] = config; });
  return configs;
}();

template <WarpConfig config>
void launch(const Call& call, runtime::StreamView& stream) {
  launch_by_warps<config>(gemm_of(call), call.problem.trans_a, call.problem.trans_b, stream);
}

template <int kPlace>
ladder::Demand demand(const Call& call) {
  constexpr WarpConfig c = kConfigs[kPlace];
  const Problem& p = call.problem;
  constexpr double kProducts = 3;  // of halves for each product of floats
  const auto k = static_cast<double>(p.k);
  return {.ctas = static_cast<double>(tiles(p.m, c.block_m) * tiles(p.n, c.block_n)),
          .threads = c.threads(),
          .registers = c.registers(),
          .shared_bytes = sizeof(WarpShared<WarpConfigType<c>>),
          .flops = kProducts * 2.0 * c.block_m * c.block_n * k,
          .bytes = 4.0 * (c.block_m + c.block_n) * k};
}

template <int... kPlaces>
constexpr auto configurations_of(std::integer_sequence<int, kPlaces...>) {
  return std::array<ladder::Configuration<Call>, kCount>{ladder::Configuration<Call>{
      {kConfigs[kPlaces].block_m, kConfigs[kPlaces].block_n, kConfigs[kPlaces].warps_m,
       kConfigs[kPlaces].warps_n, kConfigs[kPlaces].stages, kConfigs[kPlaces].blocks},
      launch<kConfigs[kPlaces]>,
      demand<kPlaces>}...};
}
constexpr auto kConfigurations = configurations_of(std::make_integer_sequence<int, kCount>());

template <WarpConfig config>
constexpr int place_of() {
  constexpr auto place = std::ranges::find(kConfigs, config);
  static_assert(place != kConfigs.end());
  return static_cast<int>(place - kConfigs.begin());
}

Gemm sizes_in(const Call& call) {
  Gemm g{};
  g.m = call.problem.m, g.n = call.problem.n, g.k = call.problem.k;
  return g;
}

int today(const Call& call, const runtime::Machine& machine) {
  int place = 0;
  with_warp_config(sizes_in(call), machine,
                   [&]<WarpConfig config>() { place = place_of<config>(); });
  return place;
}

int own(const Call& call, const runtime::Machine& machine) {
  int place = 0;
  with_warp_config_by_waves(sizes_in(call), machine,
                            [&]<WarpConfig config>() { place = place_of<config>(); });
  return place;
}

bool takes(const Call& call) {
  const Problem& p = call.problem;
  const bool multiplies = p.m > 0 && p.n > 0 && p.k > 0 && p.alpha != 0.0f;
  return p.layout == Layout::row_major && multiplies && is_single(call);
}

}  // namespace

WARPLADDER_SPACE(tc_13_mma_sync) = {
    .parameters = {"block_m", "block_n", "warps_m", "warps_n", "stages", "blocks"},
    .configurations = kConfigurations.data(),
    .count = kCount,
    .today = today,
    .own = own,
    .accepts = "row-major products, one at a time",
    .takes = takes};

}  // namespace warpladder::sgemm
