#pragma once
// Source → machine code, by way of the cache on disk. Needs no GPU.

#include <string>
#include <vector>

#include "runtime/code_cache.hpp"
#include "runtime/nvrtc.hpp"

namespace warpladder::runtime {

// The headers that sources may include, as kernels of this build are made of: those of src/ by
// their paths below it.
const std::vector<SourceFile>& kernel_headers();

struct CompiledCode {
  std::string code;
  bool from_cache = false;
};

// For a GPU of this compute capability and a driver of this version, as CUDA numbers them. Where
// NVRTC is not found: Code::no_compiler; a source that is refused: Code::invalid_argument with the
// compiler's first error.
Status compile(const KernelText& text, int capability, int driver, const Nvrtc& compiler,
               const CodeCache& cache, CompiledCode* compiled);

}  // namespace warpladder::runtime
