#include "ops/spmv/plan.hpp"

namespace warpladder::spmv {
namespace WARPLADDER_FLAVOUR {

WARPLADDER_USES_RUNG(01_scalar);
WARPLADDER_USES_RUNG(06_merge);
WARPLADDER_USES_RUNG(07_entries);
WARPLADDER_USES_RUNG(08_prepared);
WARPLADDER_USES_RUNG(09_sorted);
WARPLADDER_USES_RUNG(10_held);

// The constants were measured on an H200 (LADDER.md).
Plan plan(const Problem& p, const runtime::Machine& machine, bool prepared) noexcept {
  const std::size_t workspace = sizeof(std::int64_t) * static_cast<std::size_t>(scratch_words(p)),
                    flags = static_cast<std::size_t>(flag_words(p, machine));
  // Where nearly all rows are empty, a tile of entries may hold the beginnings of too many rows.
  if (p.rows > 2 * p.nnz) return {WARPLADDER_PLANNED(06_merge), workspace, flags};
  // Sorting pays where nearly every entry needs an L2 line of its own, and tiles are long.
  constexpr std::int64_t kMany = std::int64_t{1} << 22;
  const bool many_lines = p.scattered && p.nnz >= kMany;
  if (prepared) {
    const std::size_t bytes =
        sizeof(std::int64_t) * static_cast<std::size_t>(plan_words(p, machine));
    const bool sorts = many_lines && ladder::runs_on(machine, rung_09_sorted);
    if (sorts) return {WARPLADDER_PLANNED(09_sorted), workspace, flags, bytes};
    return {WARPLADDER_PLANNED(08_prepared), workspace, flags, bytes};
  }
  // The L1 cache holds much of a shorter x. A few columns with most of the entries would all ask
  // one CTA of the cluster.
  constexpr std::int64_t kLongX = std::int64_t{1} << 19;
  const bool holds =
      many_lines && p.even && p.columns >= kLongX && ladder::runs_on(machine, rung_10_held);
  if (holds && p.rows <= p.nnz) return {WARPLADDER_PLANNED(10_held), workspace, flags};
  // Where all rows are this short, one thread a row keeps up with memory and nothing has to be
  // looked up. The L1 cache serves the rest of each sector.
  constexpr std::int64_t kShort = 8;
  if (p.longest_row != Problem::kUnknown && p.longest_row <= kShort) {
    return {WARPLADDER_PLANNED(01_scalar), workspace, flags};
  }
  return {WARPLADDER_PLANNED(07_entries), workspace, flags};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::spmv
