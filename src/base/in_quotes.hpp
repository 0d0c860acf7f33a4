#pragma once
// How an error sentence shows a user's text: on one line, whatever its bytes.

#include <cstddef>
#include <string>
#include <string_view>

namespace warpladder {

// Long enough for the user to recognise the text.
inline constexpr std::size_t kShownBytes = 60;

// The length in bytes of the first UTF-8 character of `text`. 0 for invalid bytes and control
// characters, C1's two bytes included.
inline std::size_t printable_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  unsigned code = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr unsigned kLeast[] = {0xa0, 0x800, 0x10000};  // below: C1, or longer than it must be
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[length - 2] || code > 0x10ffff || is_surrogate ? 0 : length;
}

// `text` in single quotes. Control characters, and bytes that are no UTF-8, are spelled \xNN, so
// that a hostile file name cannot control the terminal. Text beyond `limit` bytes is cut.
inline std::string in_quotes(std::string_view text, std::size_t limit = std::string_view::npos) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "'";
  for (std::size_t at = 0; at < text.size() && at < limit;) {
    const std::size_t length = printable_bytes(text.substr(at));
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(text[at]);
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
    out += text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return out + (text.size() > limit ? "...'" : "'");
}

// How a sentence names a file: "--a 'A.npy'", or "'A.npy'" without an argument.
inline std::string file_subject(std::string_view path, std::string_view argument) {
  return argument.empty() ? in_quotes(path) : std::string(argument) + " " + in_quotes(path);
}

}  // namespace warpladder
