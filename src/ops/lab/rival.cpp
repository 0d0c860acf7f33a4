#include "ops/lab/rival.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace warpladder::ops {
namespace {

// Filled during static initialisation, read afterwards.
std::deque<Rival>& declared() {
  static std::deque<Rival> rivals;
  return rivals;
}

}  // namespace

bool declare_rival(Rival rival) {
  declared().push_back(std::move(rival));
  return true;
}

std::vector<const Rival*> rivals_of(std::string_view op, runtime::Target target) {
  std::vector<const Rival*> rivals;
  for (const Rival& rival : declared()) {
    if (rival.op == op && rival.target == target) rivals.push_back(&rival);
  }
  std::ranges::sort(rivals, {}, &Rival::name);
  return rivals;
}

}  // namespace warpladder::ops
