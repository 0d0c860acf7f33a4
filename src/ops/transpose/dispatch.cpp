#include "ops/transpose/dispatch.hpp"

namespace warpladder::transpose {

const ladder::AnyRung& choose(const Problem& p, runtime::Target target) {
  const auto rung = [](const char* id) -> const ladder::AnyRung& {
    return ladder::find_rung("transpose", id);
  };
  // The executor has no lines to fill, and pays for barriers.
  if (target == runtime::Target::cpu) return rung("01_naive");
  // A short side is one piece of memory only where nothing lies between its lines.
  const bool few_columns = p.columns <= 64 && p.ld_in == p.columns,
             few_rows = p.rows <= 64 && p.ld_out == p.rows;
  if ((p.rows | p.columns | p.ld_in | p.ld_out | p.stride_in | p.stride_out) % 4 == 0) {
    // 06_vector's tiles have lines of 32 and 64. Sixteen columns meet two banks in 08_thin.
    const bool thinner =
        (few_columns && p.columns < 24 && p.columns != 16) || (few_rows && p.rows < 24);
    return rung(thinner ? "08_thin" : "06_vector");
  }
  if (few_columns || few_rows) return rung("08_thin");
  // Fewer tiles of 128x128 than these leave multiprocessors idle while the last ones run.
  constexpr std::int64_t kLarge = std::int64_t{1} << 23;
  return rung(p.rows * p.columns * p.batch < kLarge ? "07_rotated" : "09_whole_sectors");
}

}  // namespace warpladder::transpose
