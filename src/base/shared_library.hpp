#pragma once
// A library that is used where it is found and done without where it is not.

#include <string>
#include <vector>

namespace warpladder {

class SharedLibrary {
 public:
  // The first of these names or paths that loads.
  explicit SharedLibrary(const std::vector<std::string>& names);
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  // Why none of them loaded, or empty.
  const std::string& why_not() const { return why_not_; }
  // Null if the library or the symbol is not there. Stays valid until the program ends: what is
  // loaded is never unloaded.
  template <class Function>
  Function find(const char* symbol) const {
    return reinterpret_cast<Function>(address_of(symbol));
  }

 private:
  void* address_of(const char* symbol) const;

  void* handle_ = nullptr;
  std::string why_not_;
};

// Where a library of the CUDA toolkit may be, for SharedLibrary: as the system finds it, below
// CUDA_HOME, and where the toolkit is installed by default.
std::vector<std::string> places_of_cuda_library(const std::string& file);

}  // namespace warpladder
