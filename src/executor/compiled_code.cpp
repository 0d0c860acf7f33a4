#include "executor/compiled_code.hpp"

#include <string_view>
#include <utility>

namespace warpladder::executor {

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
