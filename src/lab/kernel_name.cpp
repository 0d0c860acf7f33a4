#include "lab/kernel_name.hpp"

#include <initializer_list>
#include <string_view>

#include "executor/compiled_code.hpp"

namespace warpladder::lab {

namespace {

std::string without(std::string text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    for (std::size_t at; (at = text.find(word)) != text.npos;) text.erase(at, word.size());
  }
  return text;
}

}  // namespace

std::string without_namespaces(const std::string& name) {
  return without(name, {"warpladder::", "counted::", "plain::", "gpu::", " "});
}

std::string short_kernel_name(const std::string& name) {
  constexpr std::size_t kLong = 40;
  const std::string text = executor::without_flavours(name);
  const std::size_t arguments = text.find('<');
  if (text.size() <= kLong || arguments == text.npos) return text;
  return text.substr(0, arguments) + "<…>";
}

}  // namespace warpladder::lab
