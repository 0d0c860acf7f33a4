#include "lab/selection.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/in_quotes.hpp"

namespace warpladder::lab {

namespace {

void add_all(const ops::Operator& op, std::vector<Selected>& selected) {
  for (const ladder::AnyRung* rung : ladder::rungs_of(op.name())) selected.push_back({&op, rung});
}

bool is_pattern(const std::string& name) {
  const std::size_t open = name.find('[');
  return name.find_first_of("*?") != name.npos ||
         (open != name.npos && name.find(']', open) != name.npos);
}

void add_matches(const std::string& pattern, std::vector<Selected>& selected) {
  const std::size_t before = selected.size();
  const bool is_of_rungs = pattern.find('/') != pattern.npos;
  const auto matches = [&](const std::string& name) {
    return ::fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME) == 0;
  };
  for (const auto& op : ops::all_operators()) {
    if (!is_of_rungs && matches(op->name())) add_all(*op, selected);
    for (const ladder::AnyRung* rung : ladder::rungs_of(op->name())) {
      if (is_of_rungs && matches(rung->full_name())) selected.push_back({op.get(), rung});
    }
  }
  if (selected.size() > before) return;
  throw_bad_input(fmt::format("no {} matches {}; 'warpladder list' shows them all",
                              is_of_rungs ? "rung" : "operator", in_quotes(pattern, kShownBytes)));
}

}  // namespace

std::vector<Selected> select(const std::vector<std::string>& names) {
  std::vector<Selected> selected;
  if (names.empty()) {
    for (const auto& op : ops::all_operators()) add_all(*op, selected);
  }
  for (const std::string& name : names) {
    if (is_pattern(name)) {
      add_matches(name, selected);
    } else if (name.find('/') != std::string::npos) {
      selected.push_back(select_one(name));
    } else {
      add_all(ops::find_operator(name), selected);
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

void require_rung(const std::string& name) {
  if (name.find('/') != name.npos) return;
  throw_bad_input(fmt::format("{} names no rung; write OP/RUNG, e.g. sgemm/row_01_naive",
                              in_quotes(name, kShownBytes)));
}

Selected select_one(const std::string& name) {
  require_rung(name);
  const std::size_t slash = name.find('/');
  const ops::Operator& op = ops::find_operator(name.substr(0, slash));
  return {&op, &ladder::find_rung(op.name(), name.substr(slash + 1))};
}

runtime::Flavour flavour_on(runtime::Target target) {
  return target == runtime::Target::gpu ? runtime::Flavour::gpu : runtime::Flavour::plain;
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
