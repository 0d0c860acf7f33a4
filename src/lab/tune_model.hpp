#pragma once
// What a model expects of a configuration before anybody runs it. It gives waves of CTAs on the
// multiprocessors, bytes out of the L2 cache, and resident CTAs. Registers and shared memory limit
// how many of these a multiprocessor holds. Arithmetic only.

#include "lab/occupancy.hpp"
#include "lab/tune_search.hpp"
#include "ladder/space.hpp"
#include "runtime/machine.hpp"

namespace warpladder::lab {

struct Expectation {
  Occupancy occupancy;
  double ctas_of_busiest = 0;  // of the multiprocessor that gets most
  Candidate candidate;
};
// `flops_per_s`: the peak of the unit that multiplies.
Expectation expect(const ladder::Demand& demand, double flops_per_s,
                   const runtime::Machine& machine);

// The cost of a launch that the executor has counted, in seconds that rank, and predict nothing. It
// is the busiest of FP32 units, tensor cores, L1 and L2 caches, times what the last wave leaves
// idle.
double cost_of(const ladder::Totals& counts, const ladder::Demand& demand, double flops_per_s,
               const runtime::Machine& machine);

}  // namespace warpladder::lab
