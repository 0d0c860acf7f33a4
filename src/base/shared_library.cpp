#include "base/shared_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

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

std::vector<std::string> places_of_cuda_library(const std::string& file) {
  std::vector<std::string> places{file};
  if (const char* home = std::getenv("CUDA_HOME")) {
    places.push_back(std::string(home) + "/lib64/" + file);
  }
  places.push_back("/usr/local/cuda/lib64/" + file);
  return places;
}

}  // namespace warpladder
