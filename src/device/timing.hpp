#pragma once
// How the lab measures: one sample at a time, with the host's own time kept out of it.

#include <cstddef>
#include <functional>
#include <vector>

#include "device/device.hpp"

namespace warpladder::device {

// What no kernel can pass, from the device's attributes; 0 where that is not known. Floating-point
// operations are multiply-adds at the highest clock, two operations each: fp32 on the CUDA cores,
// and of dense halves on the tensor cores.
struct Ceilings {
  double fp32_flops_per_s = 0, memory_bytes_per_s = 0, tensor_flops_per_s = 0;
};
Ceilings ceilings(Target target);

// What the caches hold when a sample begins. hot: whatever earlier kernels left. cold: nothing of
// the operands in the L2 cache of a GPU. The CPU side knows only hot.
enum class Caches { hot, cold };

struct Sample {
  double seconds = 0;
  int sm_clock_mhz = 0;  // while it ran; 0 if NVML does not tell
};

// The lowest and the highest of some samples' SM clocks, in MHz; 0 where NVML did not tell.
struct ClockRange {
  int least_mhz = 0, most_mhz = 0;

  void include(int mhz);
  void include(const ClockRange& other);
};

// Not thread-safe. On a GPU a kernel that spins goes first, so that the host has queued everything
// before the first event is passed. A launch takes the host microseconds, which would be counted
// otherwise. Where the spin turns out too short, it is lengthened and the sample taken again.
class Stopwatch {
 public:
  explicit Stopwatch(Stream& stream);
  // The time that `work` takes on the stream, to which it must add everything it does.
  Sample measure(const std::function<void()>& work, Caches caches = Caches::hot);
  // For a GPU and work so short that launching it is most of its time. The work is captured several
  // times over into one graph, and a sample is one of those runs. Empty where it cannot be
  // captured.
  std::vector<double> measure_in_graph(const std::function<void()>& work);

 private:
  Stream& stream_;
  Timer timer_;
  Memory zeros_;  // larger than the L2 cache
  double spin_s_ = 20e-6;
};

}  // namespace warpladder::device
