#include "executor/compiled_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/whole_file.hpp"

namespace warpladder::executor {

namespace {

std::vector<std::string_view> fields_of(std::string_view row) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t end = row.find('\t');
    fields.push_back(row.substr(0, end));
    if (end == row.npos) return fields;
    row.remove_prefix(end + 1);
  }
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// False for a line that is none of an access.
bool add_access(std::string_view row, CompiledCode& code) {
  const std::vector<std::string_view> f = fields_of(row);
  CompiledAccess access;
  if (f.size() != 6 || f[0].empty()) return false;
  if ((f[3] != "global" && f[3] != "shared") || (f[4] != "load" && f[4] != "store")) return false;
  if (!read(f[2], access.line) || !read(f[5], access.widths)) return false;
  access.file = f[1];
  access.space = f[3] == "shared" ? MemorySpace::shared : MemorySpace::global;
  access.kind = f[4] == "store" ? AccessKind::store : AccessKind::load;
  code.kernels[std::string(f[0])].push_back(std::move(access));
  return true;
}

}  // namespace

CompiledCode read_compiled_code(const std::string& file) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const std::string whole = read_whole_file(file, in_quotes(file), kMostBytes);
  std::string_view text = whole;
  CompiledCode code;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!row.empty() && !add_access(row, code)) {
      throw_bad_input(fmt::format(
          "{}, line {}: not a kernel, a file, a line, global or shared, load or store, and widths, "
          "apart by tabs",
          in_quotes(file), line));
    }
  }
  return code;
}

std::string without_flavours(std::string kernel) {
  for (const std::string_view flavour : {"counted::", "plain::", "gpu::"}) {
    for (std::size_t at; (at = kernel.find(flavour)) != kernel.npos;) {
      kernel.erase(at, flavour.size());
    }
  }
  return kernel;
}

const std::vector<CompiledAccess>* CompiledCode::of(const std::string& kernel) const {
  const auto at = kernels.find(without_flavours(kernel));
  return at == kernels.end() ? nullptr : &at->second;
}

}  // namespace warpladder::executor
