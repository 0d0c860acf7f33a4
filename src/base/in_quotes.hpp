#pragma once
// How an error sentence shows what the user gave: on one line, whatever bytes it holds.

#include <cstddef>
#include <string>
#include <string_view>

namespace warpladder {

// Enough of a text of any length for the user to recognise it.
inline constexpr std::size_t kShownBytes = 60;

// `text` in single quotes. Control characters are spelled \xNN, so that a hostile file name cannot
// drive the terminal; what is longer than `limit` bytes is cut.
inline std::string in_quotes(std::string_view text, std::size_t limit = std::string_view::npos) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "'";
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + (text.size() > limit ? "...'" : "'");
}

// What a sentence about a file calls it: "--a 'A.npy'", or "'A.npy'" without an argument.
inline std::string file_subject(std::string_view path, std::string_view argument) {
  return argument.empty() ? in_quotes(path) : std::string(argument) + " " + in_quotes(path);
}

}  // namespace warpladder
