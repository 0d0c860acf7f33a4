#include "ops/transpose/plan.hpp"

namespace warpladder::transpose {
namespace WARPLADDER_FLAVOUR {

WARPLADDER_USES_RUNG(06_vector);
WARPLADDER_USES_RUNG(07_rotated);
WARPLADDER_USES_RUNG(08_thin);
WARPLADDER_USES_RUNG(09_whole_sectors);
WARPLADDER_USES_RUNG(10_in_place);
WARPLADDER_USES_RUNG(11_bands);
WARPLADDER_USES_RUNG(12_small_batch);

Plan plan(const Call& call, const runtime::Machine& machine) noexcept {
  const Problem& p = call.problem;
  if (call.in_place()) return {WARPLADDER_PLANNED(10_in_place)};
  // The tiles of 06_vector are full from 32×32 on.
  const bool whole =
      (p.rows | p.columns | p.ld_in | p.ld_out | p.stride_in | p.stride_out) % 4 == 0;
  if (is_small_batch(p) && (!whole || p.rows * p.columns <= 1024)) {
    return {WARPLADDER_PLANNED(12_small_batch)};
  }
  // A short side is one piece of memory only where nothing lies between its lines.
  const bool few_columns = p.columns <= 64 && p.ld_in == p.columns,
             few_rows = p.rows <= 64 && p.ld_out == p.rows;
  if (whole) {
    // 06_vector's tiles have lines of 32 and 64. Sixteen columns meet two banks in 08_thin.
    const bool thinner =
        (few_columns && p.columns < 24 && p.columns != 16) || (few_rows && p.rows < 24);
    if (thinner) return {WARPLADDER_PLANNED(08_thin)};
    return {WARPLADDER_PLANNED(06_vector)};
  }
  if (few_columns || few_rows) return {WARPLADDER_PLANNED(08_thin)};
  // Fewer tiles of 128×128 than these leave multiprocessors idle in the last wave.
  constexpr std::int64_t kLarge = std::int64_t{1} << 23;
  const bool large = p.rows * p.columns * p.batch >= kLarge;
  if (!large || !ladder::runs_on(machine, rung_09_whole_sectors)) {
    return {WARPLADDER_PLANNED(07_rotated)};
  }
  // Rows without gaps, of which a band of 32 fits into shared memory: on an H100 11_bands is faster
  // at 50000×777, and slower at 777×50000.
  constexpr std::int64_t kLeastColumns = 512, kMostColumns = 880;
  const bool short_rows = p.ld_in == p.columns && p.columns >= kLeastColumns &&
                          p.columns <= kMostColumns && p.rows >= 8 * p.columns && p.batch == 1;
  if (short_rows && ladder::runs_on(machine, rung_11_bands)) {
    return {WARPLADDER_PLANNED(11_bands)};
  }
  return {WARPLADDER_PLANNED(09_whole_sectors)};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::transpose
