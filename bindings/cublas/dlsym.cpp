// dlsym(), interposed: programs such as CuPy and JAX open cuBLAS themselves and look its functions
// up by handle, where a preloaded library is not asked. A look-up of a function that this library
// takes, in a cuBLAS, finds this library's. Every other look-up goes to glibc as it came.

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "knobs.hpp"
#include "originals.hpp"
#include "report.hpp"

namespace warpladder::cublas {
namespace {

using Dlsym = void* (*)(void*, const char*) noexcept;  // a tail call must not throw
std::atomic<Dlsym> next{nullptr};

Dlsym find_next() noexcept {
  // dlvsym() is nobody's but glibc's. The versions: glibc 2.34, and before it x86-64, aarch64.
  void* found = nullptr;
  for (const char* const version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    if ((found = dlvsym(RTLD_NEXT, "dlsym", version))) break;
  }
  next.store(reinterpret_cast<Dlsym>(found), std::memory_order_release);
  return reinterpret_cast<Dlsym>(found);
}

inline Dlsym next_or_find() noexcept {
  const Dlsym known = next.load(std::memory_order_acquire);
  return known ? known : find_next();
}

bool is_ours(const char* name) {
  constexpr const char* kOurs[] = {
#define WARPLADDER_NAME(symbol, ...) #symbol,
      WARPLADDER_CUBLAS_TAKEN(WARPLADDER_NAME)    //
      WARPLADDER_CUBLAS_WATCHED(WARPLADDER_NAME)  //
      WARPLADDER_CUBLASLT_TAKEN(WARPLADDER_NAME)  //
      WARPLADDER_CUBLASLT_WATCHED(WARPLADDER_NAME)
#undef WARPLADDER_NAME
  };
  for (const char* const ours : kOurs) {
    if (std::strcmp(name, ours) == 0) return true;
  }
  return false;
}

// This library's function in the place of cuBLAS's; null where glibc is to answer.
[[gnu::noinline]] void* in_place_of(void* handle, const char* name) noexcept {
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !is_ours(name) || is_off()) return nullptr;
  void* const theirs = next_or_find()(handle, name);
  if (!theirs) return nullptr;
  find_originals();
  if (!in_an_original(theirs)) return nullptr;
  static void* const self = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&in_place_of), &info);
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  void* const ours = self ? next_or_find()(self, name) : nullptr;
  if (ours) report_looked_up(name);
  return ours;
}

}  // namespace

void* next_dlsym(void* handle, const char* name) noexcept { return next_or_find()(handle, name); }

}  // namespace warpladder::cublas

// RTLD_NEXT and RTLD_DEFAULT depend on the caller, which glibc takes from the return address. So
// the last call is a jump, at every level of optimization.
extern "C" [[gnu::visibility("default"), gnu::optimize("O2")]] void* dlsym(
    void* handle, const char* name) noexcept {
  using namespace warpladder::cublas;
  if (name[0] == 'c' && name[1] == 'u' && name[2] == 'b') {
    if (void* const ours = in_place_of(handle, name)) return ours;
  }
  return next_or_find()(handle, name);  // a jump
}
