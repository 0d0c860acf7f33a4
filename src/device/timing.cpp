#include "device/timing.hpp"

#include <algorithm>

#include "device/cuda/cuda_side.hpp"
#include "device/cuda/nvml.hpp"

namespace warpladder::device {
namespace {

constexpr double kLongestSpin = 2e-3;

}  // namespace

Ceilings ceilings(Target target) { return target == Target::gpu ? cuda::ceilings() : Ceilings{}; }

void ClockRange::include(int mhz) {
  if (mhz == 0) return;
  least_mhz = least_mhz ? std::min(least_mhz, mhz) : mhz;
  most_mhz = std::max(most_mhz, mhz);
}

void ClockRange::include(const ClockRange& other) {
  include(other.least_mhz);
  include(other.most_mhz);
}

Stopwatch::Stopwatch(Stream& stream) : stream_(stream), timer_(stream) {
  if (stream.target != Target::gpu) return;
  zeros_ = Memory(Target::gpu, 2 * cuda::l2_bytes());
  zeros_.fill(0);
}

Sample Stopwatch::measure(const std::function<void()>& work, Caches caches) {
  if (stream_.target == Target::cpu) {
    timer_.start();
    work();
    timer_.stop();
    return {timer_.seconds()};
  }
  for (;;) {
    if (caches == Caches::cold) cuda::sweep(stream_.native, zeros_.data(), zeros_.bytes());
    cuda::spin(stream_.native, spin_s_);
    timer_.start();
    work();
    timer_.stop();
    const bool late = timer_.has_begun();
    const int clock = cuda::sm_clock_mhz();
    const double seconds = timer_.seconds();
    if (!late || spin_s_ >= kLongestSpin) return {seconds, clock};
    spin_s_ *= 2;
  }
}

std::vector<double> Stopwatch::measure_in_graph(const std::function<void()>& work) {
  constexpr int kRunsInGraph = 20, kSamples = 11;
  void* const graph = cuda::capture_graph(stream_.native, work, kRunsInGraph);
  if (!graph) return {};
  std::vector<double> samples;
  for (int i = 0; i <= kSamples; ++i) {
    const double seconds = measure([&] { cuda::launch_graph(graph, stream_.native); }).seconds;
    if (i > 0) samples.push_back(seconds / kRunsInGraph);  // the first one uploads the graph
  }
  cuda::destroy_graph(graph);
  return samples;
}

}  // namespace warpladder::device
