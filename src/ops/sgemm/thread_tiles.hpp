#pragma once
// The tiles of C that threads compute straight from global memory (row_15_tiny_products), and what
// a batch takes in them by the model. Host code of rungs and of plan().

#include <algorithm>

#include "ops/sgemm/slices.hpp"
#include "ops/sgemm/streams.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kFour = 4;  // floats that a thread reads or writes at once

// kRows rows by four columns of C, of which kLanes neighbouring lanes share k.
template <int kRows, int kLanes>
struct ThreadTile {
  static constexpr int rows = kRows, columns = kFour, lanes = kLanes;
  static constexpr int depth = kFour * kLanes;  // of k, in a step
};

// A batch, and how its operands lie.
struct ThreadedShape {
  std::int64_t m, n, k, count;
  bool trans_a, trans_b;
  bool whole;  // lines are read and written by fours
};
inline runtime::Asked asked_of(const ThreadedShape& s) {
  return {s.m, s.n, s.k, s.count, s.trans_a + 2 * s.trans_b + 4 * s.whole};
}
inline ThreadedShape threaded_shape(const Problem& p, std::int64_t count) {
  const std::int64_t lines = (p.trans_a ? p.m : p.k) | (p.trans_b ? p.k : p.n);
  return {p.m, p.n, p.k, count, p.trans_a, p.trans_b, (p.n | p.k | lines) % kFour == 0};
}

// A and B once, and C, of all products.
inline double bytes_of(const ThreadedShape& s) {
  const auto count = static_cast<double>(s.count), m = static_cast<double>(s.m),
             n = static_cast<double>(s.n), k = static_cast<double>(s.k);
  return sizeof(float) * count * ((m + n) * k + m * n);
}
// What all multiprocessors take for what an H100's one does in a second.
inline double h100_share_of(const runtime::Machine& machine) {
  constexpr double kFlopsOfH100 = 66.9e12 / 132;  // of a multiprocessor
  return kFlopsOfH100 / machine.fp32_flops_per_s;
}

// What a step of a lane takes where nothing else binds it, and the share of the memory's bandwidth.
// Then the nanoseconds of an H100's multiprocessor for a warp's step by how the operands lie,
// [trans_a][trans_b][whole]. Fitted to 926 batches on an H100.
struct ThreadedTiming {
  double step_s, share, warp_step_ns[2][2][2];
};
template <class C>
constexpr ThreadedTiming kThreadedTiming{};
template <>
constexpr ThreadedTiming kThreadedTiming<ThreadTile<2, 1>>{
    0.424e-6, 0.695, {{{42.2, 16.6}, {99.8, 60.5}}, {{45.3, 21.6}, {96.0, 61.7}}}};
template <>
constexpr ThreadedTiming kThreadedTiming<ThreadTile<4, 4>>{
    0.497e-6, 0.613, {{{73.6, 49.2}, {70.9, 54.7}}, {{85.7, 68.5}, {92.8, 53.6}}}};
template <>
constexpr ThreadedTiming kThreadedTiming<ThreadTile<2, 16>>{
    0.215e-6, 0.738, {{{85.1, 63.5}, {53.4, 34.5}}, {{127.3, 109.2}, {81.6, 68.1}}}};

template <class C>
double threaded_time(const ThreadedShape& s, const runtime::Machine& machine) {
  constexpr double kLaunch_s = 2.8e-6;
  constexpr ThreadedTiming kTiming = kThreadedTiming<C>;
  static_assert(kTiming.share > 0);
  const double warps = static_cast<double>(s.count) *
                       static_cast<double>(tiles(s.m, C::rows) * tiles(s.n, C::columns)) *
                       C::lanes / 32;
  const auto steps = static_cast<double>(tiles(s.k, C::depth));
  const double warp_step_s = 1e-9 * kTiming.warp_step_ns[s.trans_a][s.trans_b][s.whole],
               machine_s = warps * warp_step_s * h100_share_of(machine);
  const double memory_s = bytes_of(s) / (kTiming.share * machine.memory_bytes_per_s);
  return kLaunch_s + std::max(memory_s, steps * (machine_s + kTiming.step_s));
}

// `run` gets the tile of the shortest time, and that time.
template <class Run>
auto with_thread_tile(const ThreadedShape& s, const runtime::Machine& machine, const Run& run) {
  return with_fastest_tile<ThreadTile<2, 1>, ThreadTile<4, 4>, ThreadTile<2, 16>>(
      asked_of(s), machine, [&]<class C>() { return threaded_time<C>(s, machine); }, run);
}

// Products that are worth it. Sizes within one fit 32 bits.
inline bool fits_threads(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kMostLines = 1024, kMostDepth = 1 << 20;
  return m <= kMostLines && n <= kMostLines && k <= kMostDepth;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
