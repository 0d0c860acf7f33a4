#include "ops/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"

namespace warpladder::ops {
namespace {

std::vector<std::unique_ptr<Operator>>& declared() {
  static std::vector<std::unique_ptr<Operator>> operators;
  return operators;
}

}  // namespace

bool declare(std::unique_ptr<Operator> op) {
  auto& list = declared();
  const auto before = [](const auto& a, const auto& b) { return a->name() < b->name(); };
  list.insert(std::upper_bound(list.begin(), list.end(), op, before), std::move(op));
  return true;
}

const std::vector<std::unique_ptr<Operator>>& all_operators() { return declared(); }

const Operator& find_operator(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& op : all_operators()) {
    if (op->name() == name) return *op;
    names.push_back(op->name());
  }
  throw_bad_input(
      fmt::format("unknown operator '{}'; the operators are: {}", name, fmt::join(names, ", ")));
}

}  // namespace warpladder::ops
