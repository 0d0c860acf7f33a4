#include "lab/tune_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warpladder::lab {
namespace {

// What a multiprocessor can do in a cycle.
constexpr double kL2BytesPerCycle = 64, kL1BytesPerCycle = 128;

// The highest clock, from the FP32 rate.
double clock_hz(const runtime::Machine& machine) {
  const bool has_few_lanes = machine.capability == 75 || machine.capability == 80;
  const double flops_per_cycle = 2 * (has_few_lanes ? 64 : 128);
  return machine.fp32_flops_per_s / (machine.multiprocessors * flops_per_cycle);
}

Sm sm_of_machine(const runtime::Machine& machine) {
  Sm sm = sm_of(machine.capability).value_or(Sm{});
  sm.shared_bytes = static_cast<std::size_t>(machine.shared_bytes_per_multiprocessor);
  sm.block_shared_bytes = static_cast<std::size_t>(machine.shared_bytes_per_block);
  return sm;
}

double ctas_of_busiest(const ladder::Demand& demand, const runtime::Machine& machine) {
  return std::ceil(demand.ctas / machine.multiprocessors);
}

std::string why_not(const Occupancy& occupancy, const ladder::Demand& demand) {
  if (occupancy.blocks > 0) return "";
  return fmt::format(
      "a CTA of {} threads, {} registers each and {} bytes of shared memory does not fit "
      "a multiprocessor: {} run out",
      demand.threads, demand.registers, demand.shared_bytes, name(occupancy.limiter));
}

}  // namespace

Expectation expect(const ladder::Demand& demand, double flops_per_s,
                   const runtime::Machine& machine) {
  Expectation expected;
  expected.occupancy = occupancy({.threads = static_cast<unsigned>(demand.threads),
                                  .shared_bytes = demand.shared_bytes,
                                  .registers = static_cast<unsigned>(demand.registers)},
                                 sm_of_machine(machine));
  expected.ctas_of_busiest = ctas_of_busiest(demand, machine);
  const double of_one = flops_per_s / machine.multiprocessors,
               multiply_s = expected.ctas_of_busiest * demand.flops / of_one,
               l2_s =
                   expected.ctas_of_busiest * demand.bytes / (kL2BytesPerCycle * clock_hz(machine));
  Candidate& candidate = expected.candidate;
  candidate.bound_s = std::max(multiply_s, l2_s);
  candidate.cannot_run = why_not(expected.occupancy, demand);
  if (!candidate.cannot_run.empty()) return expected;
  // Few warps leave issue slots empty: two for each scheduler hide most of the latency.
  constexpr double kWarpsThatFill = 8;
  const double warps =
      std::min<double>(expected.occupancy.warps, expected.ctas_of_busiest * demand.threads / 32);
  candidate.estimate_s = std::max(multiply_s * std::max(1.0, kWarpsThatFill / warps), l2_s);
  return expected;
}

double cost_of(const ladder::Totals& counts, const ladder::Demand& demand, double flops_per_s,
               const runtime::Machine& machine) {
  const auto number = [](std::uint64_t count) {
    return count == ladder::kNotPredicted ? 0.0 : static_cast<double>(count);
  };
  const double cycles_per_s = clock_hz(machine) * machine.multiprocessors;
  const double fp32_s = 2 * number(counts.fmas) / machine.fp32_flops_per_s,
               tensor_s = 2 * number(counts.tensor_fmas) / flops_per_s,
               sectors = number(counts.global_load_sectors) + number(counts.global_store_sectors),
               wavefronts =
                   number(counts.shared_load_wavefronts) + number(counts.shared_store_wavefronts);
  constexpr double kSectorBytes = 32;
  const double l1_s = (wavefronts + sectors * kSectorBytes / kL1BytesPerCycle) / cycles_per_s,
               l2_s = (sectors * kSectorBytes + number(counts.bulk_bytes)) /
                      (kL2BytesPerCycle * cycles_per_s);
  const double idle = ctas_of_busiest(demand, machine) * machine.multiprocessors / demand.ctas;
  return idle * std::max({fp32_s, tensor_s, l1_s, l2_s});
}

}  // namespace warpladder::lab
