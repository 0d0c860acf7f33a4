#include "lab/kernel_name.hpp"

#include <string_view>

namespace warpladder::lab {

std::string short_kernel_name(const std::string& name) {
  constexpr std::size_t kLong = 40;
  std::string text = name;
  for (const std::string_view flavour : {"counted::", "plain::", "gpu::"}) {
    for (std::size_t at; (at = text.find(flavour)) != text.npos;) text.erase(at, flavour.size());
  }
  const std::size_t arguments = text.find('<');
  if (text.size() <= kLong || arguments == text.npos) return text;
  return text.substr(0, arguments) + "<…>";
}

}  // namespace warpladder::lab
