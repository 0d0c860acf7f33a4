#pragma once
// Into how many slices of k a cluster parts a tile of C (term_cluster.hpp), and what time that
// takes by a model. Host code of a rung and of plan().

#include <array>

#include "ops/sgemm/tensor/term_slices.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Seven lie unevenly on multiprocessors. Five do when they come in waves: 17×4097×4099 in five
// slices takes 55 µs on an H100, in three 45 and in six 50.
constexpr int kMostInCluster = 8, kUneven = 7, kUnevenInWaves = 5;

// A cluster lies within one group of multiprocessors. So this is the share of the multiprocessors
// on which clusters of so many CTAs find room, with one CTA on each, or with two. As
// cudaOccupancyMaxActiveClusters() says on an H100.
constexpr std::array<double, kMostInCluster + 1> kRoomOfClusters[] = {
    {0, 1, 1, 0.886, 0.909, 0.833, 0.772, 0.795, 0.909},
    {0, 1, 1, 0.897, 0.939, 0.890, 0.886, 0.848, 0.909}};

// What a round of a tile takes of a multiprocessor whose CTAs are all at work, and a tile's end.
// What a round takes a lone CTA, and what it takes longer where lines begin at any word. Fitted to
// 38 products and batches in 1 to 8 slices each, on an H100, the last to 20 more.
template <class C>
constexpr TermStreamTiming kTermClusterTiming{};
using ClusterOf256 = TermConfig<32, 4, 2, 5>;  // 32×256
template <>
constexpr TermStreamTiming kTermClusterTiming<StreamOf64>{0.482e-6, 2.052e-6, 0.640e-6, 0.130e-6};
template <>
constexpr TermStreamTiming kTermClusterTiming<StreamOf32>{0.360e-6, 1.632e-6, 0.508e-6, 0.120e-6};
template <>
constexpr TermStreamTiming kTermClusterTiming<StreamOf128>{1.348e-6, 5.783e-6, 1.360e-6, 0.210e-6};
template <>
constexpr TermStreamTiming kTermClusterTiming<ClusterOf256>{1.222e-6, 4.144e-6, 1.200e-6, 0.250e-6};

// How many CTAs a problem has, and on how many multiprocessors their clusters find room.
struct ClusterLoad {
  double ctas, room;
};
template <class C>
ClusterLoad cluster_load(const StreamedShape& s, int slices, const runtime::Machine& machine) {
  const std::int64_t x = std::min(s.m, s.n), y = std::max(s.m, s.n),
                     all = tiles(x, C::tile_x) * tiles(y, C::tile_y);
  return {
      static_cast<double>(all) * slices * static_cast<double>(s.count),
      kRoomOfClusters[C::resident - 1][static_cast<std::size_t>(slices)] * machine.multiprocessors};
}

template <class C>
double cluster_time(const StreamedShape& s, int slices, const runtime::Machine& machine) {
  constexpr TermStreamTiming kTiming = kTermClusterTiming<C>;
  static_assert(kTiming.round_s > 0);
  constexpr double kLaunch_s = 2.3e-6, kMeet_s = 0.52e-6, kMeetEach_s = 0.08e-6, kMemory = 0.82,
                   kFirstRagged_s = 0.5e-6;
  const double ragged_s = s.width == 4 ? 0 : kTiming.ragged_s;
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n),
             k = static_cast<double>(s.k), count = static_cast<double>(s.count),
             rounds = static_cast<double>(tiles(tiles(s.k, C::depth), slices));
  const auto [ctas, room] = cluster_load<C>(s, slices, machine);
  const double on_one = std::ceil(ctas / room), of_cta = std::ceil(ctas / (C::resident * room));
  constexpr double kEndOfLone = 0.7 * C::resident;
  const double memory_s =
      4.0 * count * ((m + n) * k + m * n) / (kMemory * machine.memory_bytes_per_s);
  return kLaunch_s + (s.width == 4 ? 0 : kFirstRagged_s) +
         std::max({on_one * (rounds * (kTiming.round_s + ragged_s) + kTiming.end_s),
                   of_cta * (rounds * (kTiming.lone_round_s + ragged_s * C::resident / 2) +
                             kTiming.end_s * kEndOfLone),
                   memory_s}) +
         (slices == 1 ? 0 : kMeet_s + kMeetEach_s * slices);
}

template <class C>
bool lie_unevenly(const StreamedShape& s, int slices, const runtime::Machine& machine) {
  const auto [ctas, room] = cluster_load<C>(s, slices, machine);
  return slices == kUneven || (slices == kUnevenInWaves && ctas > room * C::resident);
}

template <class C>
Slices cluster_slices(const StreamedShape& s, const runtime::Machine& machine) {
  const auto rounds = static_cast<int>(tiles(s.k, C::depth));
  Slices best{1, rounds, cluster_time<C>(s, 1, machine)};
  for (int slices = 2; slices <= std::min(kMostInCluster, rounds); ++slices) {
    if (lie_unevenly<C>(s, slices, machine)) continue;
    const double time_s = cluster_time<C>(s, slices, machine);
    if (time_s < best.time_s) best = {slices, rounds, time_s};
  }
  return best;
}

// `run` gets the tile of the shortest time, and its slices.
template <class Run>
auto with_cluster_tile(const StreamedShape& s, const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<StreamOf64, StreamOf32, StreamOf128, ClusterOf256>(
      asked_of(s), machine, [&]<class C>() { return cluster_slices<C>(s, machine); }, run);
}

// Whether the grid has room for a batch's clusters.
inline bool fits_clusters(std::int64_t m, std::int64_t n, std::int64_t count) {
  const std::int64_t x = std::min(m, n), y = std::max(m, n);
  return fits_grid(tiles(x, 32) * tiles(y, 64) * kMostInCluster, count);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
