#pragma once
// An optional library, loaded at run time.

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
  // Null if the library or the symbol is not there. Valid until the program ends, because the
  // library is never unloaded.
  template <class Function>
  Function find(const char* symbol) const {
    return reinterpret_cast<Function>(address_of(symbol));
  }

 private:
  void* address_of(const char* symbol) const;

  void* handle_ = nullptr;
  std::string why_not_;
};

// Paths of a CUDA library, for SharedLibrary: the system's, below CUDA_HOME, and the toolkit's
// default folder.
std::vector<std::string> places_of_cuda_library(const std::string& file);

}  // namespace warpladder
