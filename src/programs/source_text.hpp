#pragma once
// Moving about in the text of a C++ file whose comments and strings are blanked.

#include <cctype>
#include <string>
#include <string_view>

namespace warpladder::programs {

constexpr std::size_t kNone = std::string::npos;

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
inline bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) || c == '\\'; }

// The first place from `at` on that holds no space.
inline std::size_t skip_spaces(std::string_view b, std::size_t at) {
  while (at < b.size() && is_space(b[at])) ++at;
  return at;
}
// The end of the text in front of `at` once its spaces are taken off.
inline std::size_t skip_spaces_back(std::string_view b, std::size_t at) {
  while (at > 0 && is_space(b[at - 1])) --at;
  return at;
}
// Where the word that ends at `at` begins.
inline std::size_t word_begin(std::string_view b, std::size_t at) {
  while (at > 0 && is_word(b[at - 1])) --at;
  return at;
}
inline std::size_t word_end(std::string_view b, std::size_t at) {
  while (at < b.size() && is_word(b[at])) ++at;
  return at;
}
inline bool is_word_at(std::string_view b, std::size_t at, std::string_view word) {
  return b.substr(at, word.size()) == word && (at == 0 || !is_word(b[at - 1])) &&
         (at + word.size() == b.size() || !is_word(b[at + word.size()]));
}
inline std::size_t find_word(std::string_view b, std::string_view word, std::size_t from) {
  while ((from = b.find(word, from)) != kNone && !is_word_at(b, from, word)) ++from;
  return from;
}

// The bracket that closes the one at `at`, or kNone.
inline std::size_t closing(std::string_view b, std::size_t at) {
  int depth = 0;
  for (; at < b.size(); ++at) {
    if (b[at] == '(' || b[at] == '[' || b[at] == '{') ++depth;
    if ((b[at] == ')' || b[at] == ']' || b[at] == '}') && --depth == 0) return at;
  }
  return kNone;
}
// The bracket that opens what the one at `at` closes, or kNone.
inline std::size_t opening(std::string_view b, std::size_t at, char open) {
  const char close = b[at];
  int depth = 0;
  for (std::size_t i = at + 1; i-- > 0;) {
    if (b[i] == close) ++depth;
    if (b[i] == open && --depth == 0) return i;
  }
  return kNone;
}

}  // namespace warpladder::programs
