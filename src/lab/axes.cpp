#include "lab/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"
#include "base/suggest.hpp"

namespace warpladder::lab {
namespace {

// A typing error should not ask for a million benchmarks.
constexpr std::size_t kMostShapes = 10000;
constexpr std::int64_t kGreatestExponent = 62;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t last = std::min(text.find(separator, first), text.size());
    parts.emplace_back(text.substr(first, last - first));
    first = last + 1;
  }
  return parts;
}

// The text between '[' and ']', or the whole text without brackets. Empty if one bracket is
// missing.
std::optional<std::string_view> inside_brackets(std::string_view text) {
  const bool opened = text.starts_with('['), closed = text.ends_with(']');
  if (opened != closed || (opened && text.size() < 2)) return std::nullopt;
  return opened ? text.substr(1, text.size() - 2) : text;
}

// Parses the values of one axis; `subject` begins every sentence.
class ValuesParser {
 public:
  explicit ValuesParser(std::string subject) : subject_(std::move(subject)) {}

  std::vector<std::int64_t> parse(std::string_view text) const {
    const std::optional<std::string_view> in_brackets = inside_brackets(text);
    if (!in_brackets) fail("has a bracket without its pair");
    const std::string_view inside = *in_brackets;
    if (!text.starts_with('[')) return {size(std::string(text))};
    if (inside.starts_with("pow2:")) return powers_of_two(split(inside, ':'));
    if (inside.find(':') != std::string_view::npos) return range(split(inside, ':'));
    std::vector<std::int64_t> values;
    for (const std::string& part : split(inside, ',')) values.push_back(size(part));
    return values;
  }

 private:
  [[noreturn]] void fail(const std::string& complaint) const {
    throw_bad_input(subject_ + " " + complaint);
  }

  std::int64_t size(const std::string& text) const {
    if (text.empty()) fail("lacks a value");
    return parse_size(text, subject_ + ": the value");
  }

  std::vector<std::int64_t> powers_of_two(const std::vector<std::string>& parts) const {
    if (parts.size() != 3) fail("must give powers of two as pow2:FIRST:LAST");
    const std::int64_t first = size(parts[1]), last = size(parts[2]);
    if (last > kGreatestExponent) {
      fail(fmt::format("asks for 2^{}; the greatest is 2^{}", last, kGreatestExponent));
    }
    if (first > last) fail(fmt::format("begins with 2^{} and ends with 2^{}", first, last));
    std::vector<std::int64_t> values;
    for (std::int64_t i = first; i <= last; ++i) values.push_back(std::int64_t{1} << i);
    return values;
  }

  std::vector<std::int64_t> range(const std::vector<std::string>& parts) const {
    if (parts.size() != 3) fail("must give a range as START:STOP:STEP");
    const std::int64_t start = size(parts[0]), stop = size(parts[1]), step = size(parts[2]);
    if (step == 0) fail("has a step of 0");
    if (start > stop) fail(fmt::format("begins with {} and ends with {}", start, stop));
    const auto count = static_cast<std::uint64_t>((stop - start) / step) + 1;
    if (count > kMostShapes) {
      fail(fmt::format("has {} values; the most are {}", count, kMostShapes));
    }
    std::vector<std::int64_t> values;
    for (std::uint64_t i = 0; i < count; ++i) {
      values.push_back(start + static_cast<std::int64_t>(i) * step);
    }
    return values;
  }

  std::string subject_;
};

}  // namespace

Axis parse_axis(std::string_view text) {
  const std::string subject = "-a " + in_quotes(text, kShownBytes);
  std::string compact(text);
  std::erase(compact, ' ');
  const std::size_t equals = compact.find('=');
  if (equals == std::string::npos) {
    throw_bad_input(subject + " has no '='; write it as in -a 'm,n,k=[pow2:5:8]'");
  }
  Axis axis;
  axis.names = split(std::string_view(compact).substr(0, equals), ',');
  if (std::ranges::any_of(axis.names, &std::string::empty)) {
    throw_bad_input(subject + " lacks a name in front of '='");
  }
  axis.values = ValuesParser(subject).parse(std::string_view(compact).substr(equals + 1));
  return axis;
}

std::vector<std::string> parse_list(std::string_view text) {
  const std::optional<std::string_view> list = inside_brackets(text.substr(text.find('=') + 1));
  if (!list) {
    throw_bad_input(
        fmt::format("-a {} has a bracket without its pair", in_quotes(text, kShownBytes)));
  }
  std::vector<std::string> items = split(*list, ',');
  if (std::ranges::any_of(items, &std::string::empty)) {
    throw_bad_input(fmt::format("-a {} lacks a shape", in_quotes(text, kShownBytes)));
  }
  return items;
}

std::vector<std::string> size_names(std::string_view shape_form) {
  std::string lower(shape_form);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return split(lower, 'x');
}

std::vector<std::vector<std::int64_t>> shapes_of(const std::vector<Axis>& axes,
                                                 const std::vector<std::string>& names,
                                                 const std::vector<std::int64_t>& defaults,
                                                 const std::string& subject) {
  std::vector<std::vector<std::int64_t>> shapes{defaults};
  std::vector<bool> is_given(names.size());
  for (const Axis& axis : axes) {
    std::vector<std::size_t> places;
    for (const std::string& axis_name : axis.names) {
      const auto at = static_cast<std::size_t>(std::ranges::find(names, axis_name) - names.begin());
      const std::string quoted = in_quotes(axis_name, kShownBytes);
      if (at == names.size()) {
        throw_bad_input(fmt::format("-a: {} is not a size of {}, whose sizes are: {}", quoted,
                                    subject, known_names(axis_name, names)));
      }
      if (is_given[at]) throw_bad_input(fmt::format("-a: {} is given more than once", quoted));
      is_given[at] = true;
      places.push_back(at);
    }
    std::vector<std::vector<std::int64_t>> product;
    if (shapes.size() * axis.values.size() > kMostShapes) {
      throw_bad_input(fmt::format("-a: the axes make more than {} shapes", kMostShapes));
    }
    for (const auto& shape : shapes) {
      for (const std::int64_t value : axis.values) {
        product.push_back(shape);
        for (const std::size_t place : places) product.back()[place] = value;
      }
    }
    shapes = std::move(product);
  }
  return shapes;
}

}  // namespace warpladder::lab
