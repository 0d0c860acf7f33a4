#include "ops/sgemm/lab/details.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"
#include "ops/lab/checked.hpp"

namespace warpladder::sgemm {
namespace {

struct NamedArithmetic {
  const char* name;
  Arithmetic arithmetic;
};
constexpr NamedArithmetic kArithmetics[] = {{"accurate", Arithmetic::accurate},
                                            {"cuda_cores", Arithmetic::cuda_cores},
                                            {"double_rounded", Arithmetic::double_rounded}};

struct Details {
  std::optional<std::int64_t> batch, stride_a, stride_b, stride_c;
  bool arrays = false;
  std::optional<Arithmetic> arithmetic;
};

[[noreturn]] void refuse(const std::string& word, const std::string& why) {
  throw_bad_input(fmt::format("sgemm: {} {}", in_quotes(word, kShownBytes), why));
}

Arithmetic arithmetic_of(const std::string& word, std::string_view name) {
  const auto at = std::ranges::find_if(
      kArithmetics, [&](const NamedArithmetic& known) { return known.name == name; });
  if (at == std::end(kArithmetics)) {
    refuse(word, "names no arithmetic; there are accurate, cuda_cores and double_rounded");
  }
  return at->arithmetic;
}

void add_word(Details& details, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const auto set = [&](auto& value, const auto& to) {
    if (value) refuse(word, "is given twice");
    value = to;
  };
  if (word == "arrays") return set(details.arrays, true);
  if (equals == word.npos) refuse(word, "is no detail of a problem");
  const std::string text = word.substr(equals + 1);
  if (key == "arithmetic") return set(details.arithmetic, arithmetic_of(word, text));
  const struct {
    const char* key;
    std::optional<std::int64_t>& value;
  } numbers[] = {{"batch", details.batch},
                 {"stride_a", details.stride_a},
                 {"stride_b", details.stride_b},
                 {"stride_c", details.stride_c}};
  for (const auto& number : numbers) {
    if (key == number.key) return set(number.value, parse_size(text, "sgemm: " + key));
  }
  refuse(word, "is no detail of a problem");
}

// A stride that is not given packs the matrices. Those of A and of B may share their elements, all
// of them or none.
std::int64_t stride_of(const char* name, const std::optional<std::int64_t>& given,
                       std::int64_t elements, std::int64_t count, bool may_share) {
  const std::int64_t stride = given.value_or(elements);
  if (count > 1 && stride < elements && !(may_share && stride == 0)) {
    throw_bad_input(
        fmt::format("sgemm: {} is {}, but a matrix has {} elements", name, stride, elements));
  }
  std::int64_t all = 0;
  if (count > 1 && elements > 0 && !runtime::extent_of(count, elements, stride, &all)) {
    throw_bad_input(fmt::format("sgemm: {} matrices with {} = {} are too large to address", count,
                                name, stride));
  }
  return stride;
}

}  // namespace

void add_details(GemmCase& c, std::string_view text) {
  Details details;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    add_word(details, word);
    c.name += " " + word;
  }
  c.arithmetic = details.arithmetic.value_or(Arithmetic::accurate);
  if (!details.batch) {
    if (details.stride_a || details.stride_b || details.stride_c || details.arrays) {
      throw_bad_input("sgemm: strides and arrays are for a batch, and no batch=N is given");
    }
    return;
  }
  const std::int64_t count = *details.batch;
  if (count < 1) throw_bad_input("sgemm: a batch has at least 1 product");
  const Problem::Footprint one = ops::footprint(c.problem);
  c.batch.count = count;
  c.batch.arrays = details.arrays;
  c.batch.stride_a = stride_of("stride_a", details.stride_a, one.a_elements, count, true);
  c.batch.stride_b = stride_of("stride_b", details.stride_b, one.b_elements, count, true);
  c.batch.stride_c = stride_of("stride_c", details.stride_c, one.c_elements, count, false);
}

}  // namespace warpladder::sgemm
