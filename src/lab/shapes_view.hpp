#pragma once
// Many shapes at a glance: each contestant's speed-up over its fastest rival, by class.

#include <string>
#include <vector>

#include "lab/bench.hpp"

namespace warpladder::lab {

// One contestant at one shape. Unknown ratios are 0.
struct ShapeResult {
  const BenchRow *row = nullptr, *rival = nullptr;  // the rival: the fastest with hot caches
  double hot = 0, cold = 0;                         // the fastest rival's time over its own
  double of_probe = 0;                              // the probe's time over its own, the lesser one
  bool beyond_cache = false;                        // its operands do not fit in the L2 cache

  double slower() const { return cold > 0 && cold < hot ? cold : hot; }
  double intensity() const { return row->flops / row->bytes; }  // operations for each minimal byte
};

struct Speedups {
  std::size_t shapes = 0;
  double hot_mean = 0, hot_least = 0;  // geometric means; 0: not known
  double cold_mean = 0, cold_least = 0;
  double of_probe_least = 0;  // of operands beyond the cache

  double least() const { return cold_least > 0 && cold_least < hot_least ? cold_least : hot_least; }
};

struct ClassSpeedups {
  std::string name;
  Speedups speedups;
};

struct ContestantView {
  std::string rung;
  std::vector<ShapeResult> shapes;     // those with a verified time and a rival's
  std::vector<ClassSpeedups> classes;  // in the file's order
  Speedups all;
  std::vector<std::size_t> worst;  // of `shapes`, the slowest ten, the slowest first
  std::size_t not_compared = 0;    // shapes without a time, or without a rival's
};

// One per contestant, in their order. Points into the report.
std::vector<ContestantView> views_of(const BenchReport& report);

}  // namespace warpladder::lab
