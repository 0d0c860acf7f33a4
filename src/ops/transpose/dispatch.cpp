#include "ops/transpose/dispatch.hpp"

#include <algorithm>

namespace warpladder::transpose {

const ladder::Rung& choose_in_place() { return ladder::find_rung("transpose", "10_in_place"); }

const ladder::Rung& choose(const Problem& p, device::Target target) {
  const auto rung = [](const char* id) -> const ladder::Rung& {
    return ladder::find_rung("transpose", id);
  };
  // The executor has no lines to fill, and pays for barriers.
  if (target == device::Target::cpu) return rung("01_naive");
  if ((p.rows | p.columns | p.ld_in | p.ld_out | p.stride_in | p.stride_out) % 4 == 0) {
    return rung("06_vector");
  }
  return rung(std::min(p.rows, p.columns) <= 64 ? "08_thin" : "07_rotated");
}

}  // namespace warpladder::transpose
