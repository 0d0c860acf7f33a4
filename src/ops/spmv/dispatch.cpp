#include "ops/spmv/dispatch.hpp"

namespace warpladder::spmv {

const ladder::Rung& choose(const Problem& p, bool prepared, device::Target target) {
  const auto rung = [](const char* id) -> const ladder::Rung& {
    return ladder::find_rung("spmv", id);
  };
  // The executor pays for barriers, and has no lines to fill.
  if (target == device::Target::cpu) return rung("01_scalar");
  // Rows that are nearly all empty may all begin in a few tiles of entries.
  if (p.rows > 2 * p.nnz) return rung("06_merge");
  return rung(prepared ? "08_prepared" : "07_entries");
}

}  // namespace warpladder::spmv
