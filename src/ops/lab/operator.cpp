#include "ops/lab/operator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/suggest.hpp"

namespace warpladder::ops {
namespace {

std::vector<std::unique_ptr<Operator>>& declared() {
  static std::vector<std::unique_ptr<Operator>> operators;
  return operators;
}

}  // namespace

void Operator::require_variant(const std::string& variant) const {
  const std::vector<std::string> known = variants();
  const std::size_t end = variant.find(' ');
  if (end != variant.npos && details().empty()) {
    throw_bad_input(fmt::format("{}: nothing may follow a variant, as in {}", name(),
                                in_quotes(variant, kShownBytes)));
  }
  if (std::ranges::find(known, variant.substr(0, end)) != known.end()) return;
  if (known.size() == 1) throw_bad_input(fmt::format("{} has no variants", name()));
  throw_bad_input(fmt::format("{} has no variant {}; its variants are: {}", name(),
                              in_quotes(variant, kShownBytes),
                              known_names(variant.substr(0, end), known)));
}

Case Operator::case_of_shape(const std::vector<std::int64_t>& shape,
                             const std::string& variant) const {
  if (shape.empty() && matrices()) return matrices()->case_of(variant);
  require_shape(shape);
  if (variant.empty()) return plain_case(shape, variants().front());
  require_variant(variant);
  return plain_case(shape, variant);
}

Case Operator::sampled_case_of_shape(const std::vector<std::int64_t>& shape,
                                     const std::string& variant) const {
  require_shape(shape);
  require_variant(variant);
  return sampled_case(shape, variant);
}

void Operator::require_shape(const std::vector<std::int64_t>& shape) const {
  if (shape.size() == default_shape().size()) return;
  throw_bad_input(fmt::format("{}: a shape is written {}", name(), shape_form()));
}

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
  throw_bad_input(fmt::format("unknown operator {}; the operators are: {}",
                              in_quotes(name, kShownBytes), known_names(name, names)));
}

}  // namespace warpladder::ops
