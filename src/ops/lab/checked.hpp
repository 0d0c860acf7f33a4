#pragma once
// An operator's check() for code that throws.

#include "base/error.hpp"
#include "runtime/status.hpp"

namespace warpladder::ops {

// Throws Error(bad_input) with the sentence of a failed check.
inline void require(const runtime::Status& status) {
  if (!status.ok()) throw_bad_input(status.sentence);
}
template <class Problem>
void validate(const Problem& p) {
  require(check(p));
}
// validate() and what the operands take.
template <class Problem>
typename Problem::Footprint footprint(const Problem& p) {
  typename Problem::Footprint taken{};
  require(check(p, &taken));
  return taken;
}

}  // namespace warpladder::ops
