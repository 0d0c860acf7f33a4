#include "ladder/spaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace warpladder::ladder {
namespace {

// Filled during static initialisation, read afterwards.
std::vector<AnySpace>& declared() {
  static std::vector<AnySpace> spaces;
  return spaces;
}

}  // namespace

std::string AnySpace::text(std::size_t configuration) const {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    text += fmt::format("{}{}={}", i ? " " : "", parameters[i],
                        configurations[configuration].values[i]);
  }
  return text;
}

bool declare_space(AnySpace space) {
  std::vector<AnySpace>& all = declared();
  const auto place = std::ranges::find_if(all, [&](const AnySpace& other) {
    return std::tie(space.op, space.rung) < std::tie(other.op, other.rung);
  });
  all.insert(place, std::move(space));
  return true;
}

const std::vector<AnySpace>& all_spaces() { return declared(); }

const AnySpace* find_space(std::string_view op, std::string_view rung) {
  for (const AnySpace& space : all_spaces()) {
    if (space.op == op && space.rung == rung) return &space;
  }
  return nullptr;
}

}  // namespace warpladder::ladder
