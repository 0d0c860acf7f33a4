#pragma once
// The cuBLAS libraries that the program has loaded. They are found by looking at what is loaded,
// not by RTLD_NEXT: Python loads them with RTLD_LOCAL, where RTLD_NEXT finds nothing.

#include <atomic>
#include <cstdint>

#include "symbols.hpp"

namespace warpladder::cublas {

enum class Kind { blas, lt };

// One loaded libcublas or libcublasLt, which stays loaded.
class Original {
 public:
  Kind kind = Kind::blas;
  std::uintptr_t begin = 0, end = 0;  // its addresses
  void* symbols[kSymbols] = {};       // null where this version has none

  bool has(Symbol symbol) const { return symbols[static_cast<int>(symbol)] != nullptr; }

  // Calls the original function with exactly these arguments.
  template <class Result, class... Arguments>
  Result call(Symbol symbol, Arguments... arguments) const {
    using Pointer = Result (*)(Arguments...);
    return reinterpret_cast<Pointer>(symbols[static_cast<int>(symbol)])(arguments...);
  }
};

constexpr int kMostOriginals = 8;

// Looks at what is loaded now. Takes a lock: for calls that are rare, such as cublasCreate().
void find_originals() noexcept;

// The original that a call from `caller` means; null where none of that kind is loaded. Takes no
// lock while one cuBLAS alone is loaded.
const Original* original_for(Kind kind, const void* caller) noexcept;

// Whether the address lies in a cuBLAS.
bool in_an_original(const void* address) noexcept;

// glibc's dlsym(); this library has one of its own.
void* next_dlsym(void* handle, const char* name) noexcept;

}  // namespace warpladder::cublas
