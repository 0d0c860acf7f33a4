#include "base/shared_library.hpp"

#include <dlfcn.h>

namespace warpladder {

SharedLibrary::SharedLibrary(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) return;
  }
  why_not_ = names.empty() ? "no library was named" : names.front() + " cannot be loaded";
}

void* SharedLibrary::address_of(const char* symbol) const {
  return handle_ ? ::dlsym(handle_, symbol) : nullptr;
}

}  // namespace warpladder
