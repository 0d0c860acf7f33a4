#include "ops/sgemm/dispatch.hpp"

#include <cmath>

namespace warpladder::sgemm {

namespace {

// Seconds that a product takes on one H200, in round numbers from LADDER.md: on CUDA cores, and on
// tensor cores, whose operands are split first and whose tiles are 128 rows and columns large.
double time_on_cuda_cores(const Problem& p) { return 4e-6 + flops(p) / 50e12; }
double time_on_tensor_cores(const Problem& p) {
  constexpr double kTile = 128;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  const double tiles = std::ceil(m / kTile) * std::ceil(n / kTile);
  const double split_s = 16 * (m + n) * k / 2.8e12;  // 8 bytes an element, read and written
  return 12e-6 + split_s + tiles * kTile * kTile * 2 * k / 235e12;
}

// Below it a sum in FP32 is more accurate than one of the tensor cores' truncated parts.
constexpr std::int64_t kLeastDepth = 1024;

}  // namespace

const ladder::Rung& choose(const Problem& problem, device::Target target) {
  // The executor pays for loads and barriers, too: tiles in registers help it as they help a GPU.
  // What the later rungs add hides latencies that it does not have.
  if (target == device::Target::cpu) return ladder::find_rung("sgemm", "row_04_vector_load");

  // Of the rungs that take every problem, and want nothing done beforehand.
  const bool tensor_cores =
      problem.k >= kLeastDepth && time_on_tensor_cores(problem) < time_on_cuda_cores(problem);
  return ladder::find_rung("sgemm", tensor_cores ? "tc_10_full_range" : "row_07_register_parity");
}

}  // namespace warpladder::sgemm
