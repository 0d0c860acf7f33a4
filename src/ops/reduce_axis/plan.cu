#include "ops/reduce_axis/plan.hpp"

namespace warpladder::reduce_axis {
namespace WARPLADDER_FLAVOUR {

WARPLADDER_USES_RUNG(04_split);
WARPLADDER_USES_RUNG(05_short_lines);
WARPLADDER_USES_RUNG(06_whole_laps);

namespace {

// Whether 04_split's vectors fit the matrix.
bool whole_vectors(const Problem& p) { return (p.columns | p.ld) % 4 == 0; }

// Columns take a thread each: they have to be very short, or short and many.
bool short_lines(const Problem& p, const runtime::Machine& machine) {
  if (p.lines == Lines::rows) return p.columns > 0 && p.ld <= 256 && p.ld < 2 * p.columns;
  return p.rows <= 16 || (p.rows <= 64 && p.columns >= 256 * machine.multiprocessors);
}

}  // namespace

Plan plan(const Problem& p, const runtime::Machine& machine) noexcept {
  if (!whole_vectors(p)) {
    if (short_lines(p, machine)) return {WARPLADDER_PLANNED(05_short_lines)};
    if (p.lines == Lines::columns) {
      return {WARPLADDER_PLANNED(06_whole_laps), 0, flag_words(machine)};
    }
  }
  return {WARPLADDER_PLANNED(04_split), 0, flag_words(machine)};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::reduce_axis
