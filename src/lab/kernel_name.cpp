#include "lab/kernel_name.hpp"

#include "executor/compiled_code.hpp"

namespace warpladder::lab {

std::string short_kernel_name(const std::string& name) {
  constexpr std::size_t kLong = 40;
  const std::string text = executor::without_flavours(name);
  const std::size_t arguments = text.find('<');
  if (text.size() <= kLong || arguments == text.npos) return text;
  return text.substr(0, arguments) + "<…>";
}

}  // namespace warpladder::lab
