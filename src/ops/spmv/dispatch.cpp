#include "ops/spmv/dispatch.hpp"

namespace warpladder::spmv {

const ladder::Rung& choose(const Problem&, bool prepared, device::Target target) {
  const auto rung = [](const char* id) -> const ladder::Rung& {
    return ladder::find_rung("spmv", id);
  };
  // The executor pays for barriers, and has no lines to fill.
  if (target == device::Target::cpu) return rung("01_scalar");
  return rung(prepared ? "07_prepared" : "06_merge");
}

}  // namespace warpladder::spmv
