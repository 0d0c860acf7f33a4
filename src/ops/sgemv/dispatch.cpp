#include "ops/sgemv/dispatch.hpp"

namespace warpladder::sgemv {

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor pays for threads, shuffles and barriers, and waits for no memory. What a GPU's
  // shapes ask for is one rung's business (plan.hpp).
  return ladder::find_rung("sgemv",
                           target == runtime::Target::cpu ? "01_thread_per_output" : "07_by_shape");
}

}  // namespace warpladder::sgemv
