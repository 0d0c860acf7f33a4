#include "ops/reduce_axis/dispatch.hpp"

namespace warpladder::reduce_axis {

const ladder::AnyRung& choose(const Problem&, runtime::Target target) {
  // The executor needs no more threads than it has cores, and pays for those that wait.
  const char* id = target == runtime::Target::cpu ? "01_thread_per_line" : "04_split";
  return ladder::find_rung("reduce_axis", id);
}

}  // namespace warpladder::reduce_axis
