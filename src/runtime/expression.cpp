#include "runtime/expression.hpp"

#include <cstring>
#include <string_view>

namespace warpladder::runtime {
namespace {

constexpr std::size_t kMostBytes = 4000, kMostDepth = 200;

// What no expression of numbers needs. Digraphs are braces, brackets and # in other clothes.
constexpr const char* kForbidden[] = {";", "{",  "}",  "#",  "\"", "'",  "\\", "`",  "@",
                                      "$", "//", "/*", "*/", "<%", "%>", "%:", "<:", ":>"};

Status refuse_place(const char* name, const char* what, std::size_t at) {
  return refuse_argument("%s: the expression has %s at character %zu", name, what, at + 1);
}

}  // namespace

Status check_expression(const char* name, const char* expression) noexcept {
  if (!expression) return refuse_argument("%s: expression is null", name);
  const std::string_view text(expression);
  if (text.find_first_not_of(' ') == std::string_view::npos) {
    return refuse_argument("%s: the expression is empty", name);
  }
  if (text.size() > kMostBytes) {
    return refuse_argument("%s: the expression has %zu characters, more than %zu", name,
                           text.size(), kMostBytes);
  }
  char open[kMostDepth];
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c < ' ' || c > '~') return refuse_place(name, "a character that is not plain ASCII", at);
    for (const char* forbidden : kForbidden) {
      if (!text.substr(at).starts_with(forbidden)) continue;
      char what[16] = "'";
      std::strcat(std::strcat(what, forbidden), "'");
      return refuse_place(name, what, at);
    }
    if (c == '(' || c == '[') {
      if (depth == kMostDepth) return refuse_place(name, "too many parentheses", at);
      open[depth++] = c == '(' ? ')' : ']';
    } else if (c == ')' || c == ']') {
      if (depth == 0 || open[--depth] != c) return refuse_place(name, "an unbalanced bracket", at);
    } else if (c == ',' && depth == 0) {
      return refuse_place(name, "a comma outside of parentheses", at);
    }
  }
  if (depth > 0) return refuse_argument("%s: the expression lacks a '%c'", name, open[depth - 1]);
  return {};
}

std::string function_object(const char* parameters, const char* expression) {
  return std::string("struct Function {\n  __device__ __forceinline__ float operator()(") +
         parameters + ") const {\n    return (\n#line 1 \"expression\"\n" + expression +
         "\n    );\n  }\n};\n";
}

}  // namespace warpladder::runtime
