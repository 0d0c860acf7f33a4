#pragma once
// Tiles of C that CTAs of one warp multiply (row_23_lone_warps), and what a batch takes in them by
// the model. Host code of rungs and of plan().

#include <algorithm>

#include "ops/sgemm/thread_tiles.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// 8·kLanesX rows by 128/kLanesX columns, of which a lane has 8×4; kDepth of k at a time. 20 CTAs
// fit a multiprocessor.
constexpr int kDeepWarp = 32, kShallowWarp = 8;
template <int kLanesX, int kDepth>
using LoneWarp = SlicedConfig<kLanesX, 4, 1, 1, 1, kDepth, 1, 20>;

// What a tile takes: alone, and of an H100's multiprocessor that has many. There each part of k
// takes part_ns, [trans_a][trans_b][whole], and four of k take a step. The share is the memory's
// bandwidth's. Fitted to 620 batches on an H100.
struct LoneWarpTiming {
  double share, alone_s, part_alone_s, tile_ns, step_ns, part_ns[2][2][2];
};
template <class C>
constexpr LoneWarpTiming kLoneWarpTiming{};
template <>
constexpr LoneWarpTiming kLoneWarpTiming<LoneWarp<4, kDeepWarp>>{
    0.705, 0.36e-6, 1.20e-6, 119.3, 25.8, {{{83.5, 0}, {95.1, 36.2}}, {{40.0, 3.5}, {82.4, 32.6}}}};
template <>
constexpr LoneWarpTiming kLoneWarpTiming<LoneWarp<2, kDeepWarp>>{
    0.760, 0.49e-6, 1.29e-6,
    119.3, 29.1,    {{{100.6, 14.7}, {118.2, 44.6}}, {{34.7, 0}, {94.8, 47.2}}}};
template <>
constexpr LoneWarpTiming kLoneWarpTiming<LoneWarp<8, kDeepWarp>>{
    0.771, 0.39e-6, 1.24e-6,
    145.0, 25.9,    {{{95.3, 1.5}, {120.6, 41.3}}, {{45.7, 1.9}, {131.1, 97.6}}}};
template <>
constexpr LoneWarpTiming kLoneWarpTiming<LoneWarp<1, kDeepWarp>>{
    0.794, 0.52e-6, 1.50e-6,
    176.2, 37.5,    {{{94.1, 0}, {101.1, 18.8}}, {{64.6, 34.8}, {96.5, 37.3}}}};
template <>
constexpr LoneWarpTiming kLoneWarpTiming<LoneWarp<2, kShallowWarp>>{
    0.634, 0.12e-6, 1.02e-6,
    61.8,  37.7,    {{{44.4, 36.3}, {87.0, 45.9}}, {{59.2, 27.2}, {77.3, 62.6}}}};
template <>
constexpr LoneWarpTiming kLoneWarpTiming<LoneWarp<1, kShallowWarp>>{
    0.602, 0.47e-6, 0.87e-6,
    98.2,  22.8,    {{{60.2, 32.0}, {71.8, 22.6}}, {{67.9, 60.3}, {76.5, 65.5}}}};

template <class C>
double lone_warp_time(const ThreadedShape& s, const runtime::Machine& machine) {
  constexpr double kLaunch_s = 2e-6;
  constexpr LoneWarpTiming kTiming = kLoneWarpTiming<C>;
  static_assert(kTiming.share > 0);
  const auto parts = static_cast<double>(tiles(s.k, C::depth)),
             steps = static_cast<double>(tiles(s.k, 4));
  const double all = static_cast<double>(s.count) *
                     static_cast<double>(tiles(s.m, C::tile_x) * tiles(s.n, C::tile_y));
  const double tile_s = 1e-9 * (kTiming.tile_ns + kTiming.step_ns * steps +
                                kTiming.part_ns[s.trans_a][s.trans_b][s.whole] * parts);
  const double multiply_s = all * tile_s * h100_share_of(machine),
               memory_s = bytes_of(s) / (kTiming.share * machine.memory_bytes_per_s);
  return kLaunch_s + kTiming.alone_s + kTiming.part_alone_s * parts +
         std::max(memory_s, multiply_s);
}

// `run` gets the tile of the shortest time, and that time.
template <class Run>
auto with_lone_warp(const ThreadedShape& s, const runtime::Machine& machine, const Run& run) {
  const auto time = [&]<class C>() { return lone_warp_time<C>(s, machine); };
  if (s.k > kShallowWarp) {
    return with_fastest_tile<LoneWarp<4, kDeepWarp>, LoneWarp<2, kDeepWarp>, LoneWarp<8, kDeepWarp>,
                             LoneWarp<1, kDeepWarp>>(asked_of(s), machine, time, run);
  }
  return with_fastest_tile<LoneWarp<4, kDeepWarp>, LoneWarp<8, kDeepWarp>,
                           LoneWarp<2, kShallowWarp>, LoneWarp<1, kShallowWarp>>(
      asked_of(s), machine, time, run);
}

// Products that are worth it. Tensor cores, where terms may be multiplied there, are faster with a
// long k unless C is thin. row_16's tiles are faster where C fills them.
inline bool fits_lone_warps(std::int64_t m, std::int64_t n, std::int64_t k, bool in_terms) {
  constexpr std::int64_t kThin = 16, kShort = 64, kShortOfFull = 48, kFull = 64;
  const bool full = m % kFull == 0 && n % kFull == 0;
  return std::min(m, n) <= kThin || k <= (full ? kShortOfFull : kShort) || !(in_terms || full);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
