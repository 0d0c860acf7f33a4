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
WARPLADDER_USES_RUNG(tc_14_prepared_full_range);
#endif

namespace {

constexpr double kTile = 128;
double tiles_of(const Problem& p) {
  return std::ceil(static_cast<double>(p.m) / kTile) * std::ceil(static_cast<double>(p.n) / kTile);
}

// Seconds that a product takes in float64 on tensor cores, and in pairs of halves, into which the
// operands, or A alone, are split first: measured on an H200 (LADDER.md), scaled to the machine's
// rates.
double time_in_float64(const Problem& p, const runtime::Machine& machine) {
  const double measured_share = 57e12 / 66.9e12;
  return 3e-6 + flops(p) / (measured_share * machine.f64_tensor_flops_per_s);
}
double time_in_pairs(const Problem& p, const runtime::Machine& machine, bool prepared) {
  const double pass_share = 2.8e12 / 4.8e12, product_share = 235e12 / 989.4e12;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  // 8 bytes an element, read and written.
  const double bytes = 16 * (prepared ? m : m + n) * k;
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
          const Batch& batch, [[maybe_unused]] bool prepared) noexcept {
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
  // alpha == 0: the prepared rung would want workspace for B, too.
  if (arithmetic == Arithmetic::accurate && pairs_are_accurate(p) &&
      !(prepared && p.alpha == 0.0f) &&
      time_in_pairs(p, machine, prepared) < time_in_float64(p, machine)) {
    if (!prepared) return {WARPLADDER_PLANNED(tc_10_full_range), workspace_bytes(p)};
    return {WARPLADDER_PLANNED(tc_14_prepared_full_range), prepared_workspace_bytes(p), 0,
            prepared_bytes(p)};
  }
  return {WARPLADDER_PLANNED(row_08_double)};
#endif
}

Plan plan_preparation(const Problem& p, const runtime::Machine& machine,
                      Arithmetic arithmetic) noexcept {
  // The time that pairs save grows with m: if they save none for many rows, they never do.
  Problem many = p;
  many.m = 1 << 20;
  const Plan plan_for_many = plan(many, machine, arithmetic, {}, true);
  return plan_for_many.prepared_bytes > 0 ? plan_for_many : Plan{};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
