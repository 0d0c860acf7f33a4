// The plans of products, as calls ask for them.

#include <array>
#include <cstdint>

#include "library/sgemm.hpp"

namespace warpladder::library {
namespace {

// All that a plan follows from.
struct PlanKey {
  std::int64_t m = 0, n = 0, k = 0, count = 0;
  bool by_rows = false, trans_a = false, trans_b = false, scales = false, arrays = false,
       prepared = false;
  sgemm::Arithmetic arithmetic = {};
  runtime::Machine machine = {};
  bool operator==(const PlanKey&) const = default;
};

}  // namespace

sgemm::Plan plan_of(const Context& context, const sgemm::Problem& p, const sgemm::Batch& batch,
                    bool prepared) {
  struct Made {
    PlanKey key;
    sgemm::Plan plan;
  };
  // A new plan takes tens of microseconds: programs have dozens of products.
  constexpr int kBits = 8;
  thread_local std::array<Made, 1 << kBits> all{};
  const PlanKey key{p.m,
                    p.n,
                    p.k,
                    batch.count,
                    p.layout == sgemm::Layout::row_major,
                    p.trans_a,
                    p.trans_b,
                    p.alpha == 0.0f,
                    batch.arrays,
                    prepared,
                    arithmetic_of(context),
                    context.machine};
  std::uint64_t mixed = 0;  // its upper bits depend on all of each size's
  for (const std::int64_t size : {p.m, p.n, p.k, batch.count}) {
    mixed = (mixed ^ static_cast<std::uint64_t>(size)) * 0x9E3779B97F4A7C15u;
  }
  Made& made = all[mixed >> (64 - kBits)];
  if (!made.plan.rung || !(made.key == key)) {
    made = {key, sgemm::WARPLADDER_LIBRARY_FLAVOUR::plan(p, key.machine, key.arithmetic, batch,
                                                         prepared)};
  }
  return made.plan;
}

}  // namespace warpladder::library
