#include "lab/selection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace warpladder::lab {

std::vector<Selected> select(const std::vector<std::string>& names) {
  std::vector<Selected> selected;
  const auto add_all = [&](const ops::Operator& op) {
    for (const ladder::AnyRung* rung : ladder::rungs_of(op.name())) selected.push_back({&op, rung});
  };
  if (names.empty()) {
    for (const auto& op : ops::all_operators()) add_all(*op);
  }
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos) {
      selected.push_back(select_one(name));
    } else {
      add_all(ops::find_operator(name));
    }
  }
  return selected;
}

std::vector<Selected> select_once(const std::vector<std::string>& names) {
  std::vector<Selected> once;
  for (const Selected& selected : select(names)) {
    if (std::ranges::find(once, selected.rung, &Selected::rung) == once.end()) {
      once.push_back(selected);
    }
  }
  return once;
}

Selected select_one(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) {
    throw_bad_input(
        fmt::format("'{}' names no rung; write OP/RUNG, e.g. sgemm/row_01_naive", name));
  }
  const ops::Operator& op = ops::find_operator(name.substr(0, slash));
  return {&op, &ladder::find_rung(op.name(), name.substr(slash + 1))};
}

std::vector<runtime::Flavour> flavours_on(runtime::Target target, bool counted) {
  if (target == runtime::Target::gpu) return {runtime::Flavour::gpu};
  if (counted) return {runtime::Flavour::plain, runtime::Flavour::counted};
  return {runtime::Flavour::plain};
}

const char* name(runtime::Flavour flavour) {
  switch (flavour) {
    case runtime::Flavour::gpu:
      return "gpu";
    case runtime::Flavour::plain:
      return "plain";
    case runtime::Flavour::counted:
      return "counted";
  }
  return "";
}

}  // namespace warpladder::lab
