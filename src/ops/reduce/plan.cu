#include "ops/reduce/plan.hpp"

namespace warpladder::reduce {
namespace WARPLADDER_FLAVOUR {

WARPLADDER_USES_RUNG(08_by_size);

Plan plan(const Problem&, const runtime::Machine&) noexcept {
  return {WARPLADDER_PLANNED(08_by_size), 0, kFlagWords};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::reduce
