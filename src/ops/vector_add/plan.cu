#include "ops/vector_add/plan.hpp"

namespace warpladder::vector_add {
namespace WARPLADDER_FLAVOUR {

WARPLADDER_USES_RUNG(01_one_per_thread);

Plan plan(const Call&, const runtime::Machine&) noexcept {
  return {WARPLADDER_PLANNED(01_one_per_thread)};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::vector_add
