#include "base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace warpladder {
namespace {

constexpr std::size_t kFewest = 40, kMost = 1000;
constexpr std::size_t kOfATerminal = 80, kOfAFile = 100;

// 0: it does not say.
std::size_t columns_of_environment() {
  const char* const text = std::getenv("COLUMNS");
  if (!text) return 0;
  std::size_t columns = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, columns);
  return error == std::errc() && stop == end ? columns : 0;
}

}  // namespace

std::size_t columns_of(int file_descriptor) {
  std::size_t columns = columns_of_environment();
  winsize size{};
  if (columns == 0 && ::ioctl(file_descriptor, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  if (columns == 0) columns = ::isatty(file_descriptor) == 1 ? kOfATerminal : kOfAFile;
  return std::clamp(columns, kFewest, kMost);
}

bool is_dumb_terminal(const char* term) { return term && std::string_view(term) == "dumb"; }

}  // namespace warpladder
