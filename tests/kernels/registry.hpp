#pragma once
// The kernels that tests launch, by name and flavour. Kernel files include this (through
// kernels/kernel.hpp), so it holds no containers: nothing here may become machine code that a
// flavour shares.

#include <cstddef>

#include "runtime/stream.hpp"
#include "runtime/tensor_map.hpp"

namespace warpladder::kernel_tests {

constexpr int kMostPointers = 8, kMostNumbers = 4, kMostMaps = 2;

// A kernel's pointer parameters take `pointer` in their order, its tensor maps take `map` and the
// others `number`.
struct Arguments {
  runtime::Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  void* pointer[kMostPointers] = {};
  long long number[kMostNumbers] = {};
  unsigned cluster = 1;
  runtime::TensorMap map[kMostMaps] = {};
};

using Launcher = void (*)(runtime::StreamView& stream, const Arguments& arguments);

struct Declaration {
  const char* name;  // as the source spells it: "copy<float4>"
  runtime::Flavour flavour;
  Launcher launch;
};

// Called by static initialisation. A second kernel of the same name and flavour ends the program.
bool declare(const Declaration& declaration);

// Null where this build has no such kernel in that flavour.
Launcher find_launcher(const char* name, runtime::Flavour flavour);

}  // namespace warpladder::kernel_tests
