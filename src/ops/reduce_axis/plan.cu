#include "ops/reduce_axis/plan.hpp"

namespace warpladder::reduce_axis {
namespace WARPLADDER_FLAVOUR {

WARPLADDER_USES_RUNG(04_split);

Plan plan(const Problem&, const runtime::Machine& machine) noexcept {
  return {WARPLADDER_PLANNED(04_split), 0, flag_words(machine)};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::reduce_axis
