#pragma once
// What a compiler made of kernels' accesses. The executor counts what the source asks for; given
// this, it counts what the machine code asks for. A compiler joins a thread's accesses to
// neighbouring words into one wider access, and parts a few wide ones.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "executor/counts.hpp"

namespace warpladder::executor {

// A source line's accesses of one kind. `widths` is the sum of the bytes per lane that the machine
// code's accesses have there, each once. It is 4 + 16 where there are words and vectors of four.
struct CompiledAccess {
  std::string file;
  int line = 0;
  MemorySpace space = MemorySpace::global;
  AccessKind kind = AccessKind::load;
  unsigned widths = 0;
};

// A kernel's name without the namespaces of flavours, of which each has kernels of its own.
std::string without_flavours(std::string kernel);

struct CompiledCode {
  std::map<std::string, std::vector<CompiledAccess>> kernels;  // by the name without flavours

  // Null where nothing is known of the kernel.
  const std::vector<CompiledAccess>* of(const std::string& kernel) const;
};

// Of a file's lines "KERNEL FILE LINE global|shared load|store WIDTHS", fields apart by tabs.
// Throws Error(bad_input).
CompiledCode read_compiled_code(const std::string& file);

}  // namespace warpladder::executor
