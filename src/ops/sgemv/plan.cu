#include "ops/sgemv/plan.hpp"

namespace warpladder::sgemv {
namespace WARPLADDER_FLAVOUR {

WARPLADDER_USES_RUNG(08_full_waves);

// 08_full_waves chooses threads and pieces itself (ops/sgemv/shape.hpp).
Plan plan(const Problem& p, const runtime::Machine&) noexcept {
  return {WARPLADDER_PLANNED(08_full_waves), 0, static_cast<std::size_t>(flag_words(p))};
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemv
