#include "ops/lab/dispatch.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace warpladder::ops {

void require_runs(const ladder::AnyRung& rung, const runtime::Machine& machine) {
  const std::string why_not = ladder::why_not(rung, machine);
  if (why_not.empty()) return;
  throw std::logic_error(fmt::format("a plan named {}: {}", rung.full_name(), why_not));
}

}  // namespace warpladder::ops
