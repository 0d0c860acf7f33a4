#include <cmath>

#include "ops/sgemm/plan.hpp"

namespace warpladder::sgemm {
namespace WARPLADDER_FLAVOUR {

WARPLADDER_USES_RUNG(row_07_register_parity);
WARPLADDER_USES_RUNG(row_09_batched);
WARPLADDER_USES_RUNG(row_10_batched_double);
#if WARPLADDER_HOPPER_CODE  // 0: this build holds no code for compute capability 9.0
WARPLADDER_USES_RUNG(row_08_double);
WARPLADDER_USES_RUNG(tc_10_full_range);
#endif

namespace {

constexpr double kTile = 128;
double tiles_of(const Problem& p) {
  return std::ceil(static_cast<double>(p.m) / kTile) * std::ceil(static_cast<double>(p.n) / kTile);
}

// Seconds that a product takes in float64 on tensor cores, and in pairs of halves, into which the
// operands are split first: measured on an H200 (LADDER.md), scaled to the machine's rates.
double time_in_float64(const Problem& p, const runtime::Machine& machine) {
  const double measured_share = 57e12 / 66.9e12;
  return 3e-6 + flops(p) / (measured_share * machine.f64_tensor_flops_per_s);
}
double time_in_pairs(const Problem& p, const runtime::Machine& machine) {
  const double pass_share = 2.8e12 / 4.8e12, product_share = 235e12 / 989.4e12;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  const double bytes = 16 * (m + n) * k;  // 8 bytes an element, read and written
  return 12e-6 + bytes / (pass_share * machine.memory_bytes_per_s) +
         tiles_of(p) * kTile * kTile * 2 * k / (product_share * machine.f16_tensor_flops_per_s);
}

// Whether pairs are as accurate as cublasSgemm, which splits k where tiles are few. Of short sums
// it loses less than they do.
bool pairs_are_accurate(const Problem& p) {
  // The copy engine's coordinates are 32-bit.
  if (p.m > INT32_MAX || p.n > INT32_MAX) return false;
  return p.k >= 1024 || (p.k >= 256 && tiles_of(p) >= 64);
}

// Whether one launch for a whole batch is faster than a launch for each product: where one product
// fills few multiprocessors.
bool products_are_small(const Problem& p) {
  constexpr double kSmallFlops = 2.0 * 256 * 256 * 256;
  return flops(p) <= kSmallFlops;
}

}  // namespace

Plan plan(const Problem& p, const runtime::Machine& machine, Arithmetic arithmetic,
          const Batch& batch) noexcept {
  const bool hopper = WARPLADDER_HOPPER_CODE && machine.is_hopper();
  const bool one_launch = batch.arrays || (batch.count > 1 && products_are_small(p));
  if (arithmetic == Arithmetic::double_rounded && (one_launch || !hopper)) {
    return {WARPLADDER_PLANNED(row_10_batched_double)};
  }
  if (one_launch) return {WARPLADDER_PLANNED(row_09_batched)};
  if (arithmetic == Arithmetic::cuda_cores || !hopper) {
    return {WARPLADDER_PLANNED(row_07_register_parity)};
  }
#if WARPLADDER_HOPPER_CODE
  // Of the rungs that take every problem, and want nothing done beforehand.
  if (arithmetic == Arithmetic::accurate && pairs_are_accurate(p) &&
      time_in_pairs(p, machine) < time_in_float64(p, machine)) {
    return {WARPLADDER_PLANNED(tc_10_full_range), workspace_bytes(p)};
  }
  return {WARPLADDER_PLANNED(row_08_double)};
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
