#include "ops/spmv/dispatch.hpp"

namespace warpladder::spmv {

const ladder::AnyRung& choose(const Problem& p, std::int64_t longest_row, bool prepared,
                              runtime::Target target) {
  const auto rung = [](const char* id) -> const ladder::AnyRung& {
    return ladder::find_rung("spmv", id);
  };
  // The executor pays for barriers, and has no lines to fill.
  if (target == runtime::Target::cpu) return rung("01_scalar");
  // Rows that are nearly all empty may all begin in a few tiles of entries.
  if (p.rows > 2 * p.nnz) return rung("06_merge");
  // Sorting pays where nearly every entry asks L2 for a line of its own, and tiles are long.
  constexpr std::int64_t kMany = std::int64_t{1} << 22;
  const bool many_lines = p.scattered && p.nnz >= kMany;
  if (prepared) return rung(many_lines ? "09_sorted" : "08_prepared");
  // Of a shorter x the L1 cache has much itself; and where a few columns have most of the entries,
  // the block that holds them is asked for all of these.
  constexpr std::int64_t kLongX = std::int64_t{1} << 19;
  if (many_lines && p.even && p.columns >= kLongX && p.rows <= p.nnz) return rung("10_held");
  // Of rows all this short a thread each keeps up with memory, and nothing has to be looked up:
  // what its neighbours leave of a sector it finds in the L1 cache.
  constexpr std::int64_t kShort = 8;
  return rung(longest_row != kUnknown && longest_row <= kShort ? "01_scalar" : "07_entries");
}

}  // namespace warpladder::spmv
