#include "programs/lockstep.hpp"

#include <map>
#include <string_view>

#include "programs/rewrite.hpp"
#include "programs/source_text.hpp"

namespace warpladder::programs {
namespace {

struct Declared {
  std::string name;
  std::size_t end;  // of the declarator, dimensions included
};

std::size_t after_brackets(std::string_view b, std::size_t at) {
  for (std::size_t next = skip_spaces(b, at); next < b.size() && b[next] == '[';
       next = skip_spaces(b, at)) {
    const std::size_t close = closing(b, next);
    if (close == kNone) return b.size();
    at = close + 1;
  }
  return at;
}

// What "volatile" at `at` declares; no name for a cast, a function, or an unnamed parameter.
Declared declared_at(std::string_view b, std::size_t at) {
  const std::size_t from = at + std::string_view("volatile").size();
  const std::size_t stop = b.find_first_of(";=,)[({}", from);
  if (stop == kNone || b[stop] == '(' || b[stop] == '{' || b[stop] == '}') return {};
  const std::size_t end = skip_spaces_back(b, stop), begin = word_begin(b, end);
  const std::size_t type_end = skip_spaces_back(b, begin);
  if (begin == end || type_end <= from) return {};  // no word of a type before the name
  return {std::string(b.substr(begin, end - begin)), after_brackets(b, end)};
}

// Where the name ends to be known: at the end of the block or, of a parameter, of the function.
std::size_t scope_end(std::string_view b, std::size_t at) {
  int braces = 0, brackets = 0;
  bool is_parameter = false;
  for (; at < b.size(); ++at) {
    if (b[at] == '(') ++brackets;
    if (b[at] == ')' && --brackets < 0) {
      is_parameter = true;
      brackets = 0;
    }
    if (b[at] == ';' && is_parameter && braces == 0) return at;  // a declaration alone
    if (b[at] == '{') ++braces;
    if (b[at] == '}' && --braces < (is_parameter ? 1 : 0)) return at;
  }
  return b.size();
}

bool is_assigned(std::string_view b, std::size_t begin, std::size_t end) {
  const std::size_t before = skip_spaces_back(b, begin), next = skip_spaces(b, end);
  const std::string_view left = b.substr(before < 2 ? 0 : before - 2, before < 2 ? before : 2);
  const std::string_view right = b.substr(next, 3);
  if (left == "++" || left == "--") return true;
  if (right.starts_with("++") || right.starts_with("--")) return true;
  if (right.starts_with("<<=") || right.starts_with(">>=")) return true;
  if (right.size() > 1 && right[1] == '=') {
    return std::string_view("+-*/%&|^").find(right[0]) != kNone;
  }
  return right.starts_with('=');
}

// Not a member of that name, and no declaration of another variable.
bool is_use(std::string_view b, std::size_t at) {
  const std::size_t before = skip_spaces_back(b, at);
  if (before == 0) return false;
  if (b[before - 1] == '.' || b.substr(0, before).ends_with("->")) return false;
  if (b.substr(0, before).ends_with("::")) return false;
  if (!is_word(b[before - 1])) return true;
  const std::size_t word = word_begin(b, before);
  const std::string_view last = b.substr(word, before - word);
  return last == "return" || last == "else" || last == "do";
}

}  // namespace

std::string mark_volatile(std::string text) {
  const std::string blank = blanked(text);
  const std::string_view b = blank;
  std::map<std::size_t, std::string> insertions;
  for (std::size_t at = 0; (at = find_word(b, "volatile", at)) != kNone; ++at) {
    const Declared declared = declared_at(b, at);
    if (declared.name.empty()) continue;
    const std::size_t last = scope_end(b, declared.end);
    for (std::size_t use = declared.end; (use = find_word(b, declared.name, use)) < last;
         use += declared.name.size()) {
      const std::size_t end = after_brackets(b, use + declared.name.size());
      if (end == use + declared.name.size() || !is_use(b, use) || insertions.contains(use)) {
        continue;
      }
      insertions.emplace(
          use, is_assigned(b, use, end) ? "::simt::before_store(" : "::simt::before_load(");
      insertions.emplace(end, ")");
    }
  }
  for (auto at = insertions.rbegin(); at != insertions.rend(); ++at) {
    text.insert(at->first, at->second);
  }
  return text;
}

}  // namespace warpladder::programs
