#include "lab/kernel_name.hpp"

#include <string_view>

#include "executor/compiled_code.hpp"

namespace warpladder::lab {

std::string without_namespaces(const std::string& name) {
  constexpr std::string_view kProject = "warpladder::";
  std::string text = executor::without_flavours(name);
  for (std::size_t at; (at = text.find(kProject)) != text.npos;) text.erase(at, kProject.size());
  std::erase(text, ' ');
  return text;
}

std::string short_kernel_name(const std::string& name) {
  constexpr std::size_t kLong = 40;
  const std::string text = executor::without_flavours(name);
  const std::size_t arguments = text.find('<');
  if (text.size() <= kLong || arguments == text.npos) return text;
  return text.substr(0, arguments) + "<…>";
}

}  // namespace warpladder::lab
