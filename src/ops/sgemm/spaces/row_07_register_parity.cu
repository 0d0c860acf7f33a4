// The space of row_07: tiles, steps along k, and resident CTAs, of which more leave a thread fewer
// registers. One layout is enough to tell them apart, so the others are not compiled.

#include <algorithm>
#include <array>

#include "ladder/space.hpp"
#include "ops/sgemm/rung_parity.hpp"

namespace warpladder::sgemm {
namespace {

// The valid ones among these values; `visit` gets each.
template <class Visit>
constexpr void for_configs(const Visit& visit) {
  for (int rows : {64, 128, 256}) {
    for (int columns : {64, 128, 256}) {
      for (int depth : {8, 16}) {
        for (int resident : {1, 2, 3, 4, 8}) {
          const ParityConfig config{rows, columns, depth, resident};
          // With fewer CTAs a thread still has no more than 255 registers.
          const bool fills = config.threads() * resident >= 256;
          if (valid(config) && fills) visit(config);
        }
      }
    }
  }
}
constexpr int kCount = [] {
  int count = 0;
  for_configs([&](ParityConfig) { ++count; });
  return count;
}();
constexpr auto kConfigs = [] {
  std::array<ParityConfig, kCount> configs{};
  int at = 0;
  for_configs([&](ParityConfig config) { configs[at++] = config; });
  return configs;
}();

template <class C>
void launch(const Call& call, runtime::StreamView& stream) {
  const Gemm g = gemm_of(call);
  const runtime::LaunchShape shape{tile_grid(tiles(g.m, C::rows), tiles(g.n, C::columns)),
                                   dim3(C::threads)};
  runtime::launch(stream, shape, multiply_by_parity<C, true, true, 4, Gemm>, g);
}

template <int kPlace>
ladder::Demand demand(const Call& call) {
  constexpr ParityConfig c = kConfigs[kPlace];
  const Problem& p = call.problem;
  const auto k = static_cast<double>(p.k);
  return {.ctas = static_cast<double>(tiles(p.m, c.rows) * tiles(p.n, c.columns)),
          .threads = c.threads(),
          .registers = c.registers(),
          .shared_bytes = static_cast<std::size_t>(c.shared_bytes()),
          .flops = 2.0 * c.rows * c.columns * k,
          .bytes = 4.0 * (c.rows + c.columns) * k};
}

template <int... kPlaces>
constexpr auto configurations_of(std::integer_sequence<int, kPlaces...>) {
  return std::array<ladder::Configuration<Call>, kCount>{
      ladder::Configuration<Call>{{kConfigs[kPlaces].rows, kConfigs[kPlaces].columns,
                                   kConfigs[kPlaces].depth, kConfigs[kPlaces].resident},
                                  launch<ParityTileOf<kConfigs[kPlaces]>>,
                                  demand<kPlaces>}...};
}
constexpr auto kConfigurations = configurations_of(std::make_integer_sequence<int, kCount>());

template <ParityConfig config>
constexpr int place_of() {
  constexpr auto place = std::ranges::find(kConfigs, config);
  static_assert(place != kConfigs.end());
  return static_cast<int>(place - kConfigs.begin());
}

int today(const Call& call, const runtime::Machine& machine) {
  const Problem& p = call.problem;
  int place = 0;
  with_parity_config(p.m, p.n, p.k, (p.lda | p.ldb | p.ldc) % 4 == 0, machine,
                     [&]<ParityConfig config>() { place = place_of<config>(); });
  return place;
}

int own(const Call&, const runtime::Machine&) { return place_of<ParityConfig{}>(); }

bool takes(const Call& call) {
  const Problem& p = call.problem;
  const bool plain = p.layout == Layout::row_major && !p.trans_a && !p.trans_b && is_single(call);
  const auto address = reinterpret_cast<std::uintptr_t>(call.a) |
                       reinterpret_cast<std::uintptr_t>(call.b) |
                       reinterpret_cast<std::uintptr_t>(call.c);
  const bool multiplies = p.m > 0 && p.n > 0 && p.k > 0 && p.alpha != 0.0f;
  return plain && multiplies && address % 16 == 0 && (p.k | p.n | p.lda | p.ldb | p.ldc) % 4 == 0;
}

}  // namespace

WARPLADDER_SPACE(row_07_register_parity) = {
    .parameters = {"rows", "columns", "depth", "resident"},
    .configurations = kConfigurations.data(),
    .count = kCount,
    .today = today,
    .own = own,
    .accepts = "row-major products without transposes, whose n and k are multiples of 4",
    .takes = takes};

}  // namespace warpladder::sgemm
