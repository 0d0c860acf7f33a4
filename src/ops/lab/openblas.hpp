#pragma once
// OpenBLAS for the CPU rivals of several operators.

#include <cblas.h>

#include <cstdint>
#include <string>

#include "executor/launch.hpp"
#include "runtime/stream.hpp"

namespace warpladder::ops {

// Throws Error(bad_input) that names the argument, where OpenBLAS takes no such number.
blasint to_blasint(const char* name, std::int64_t value);
inline CBLAS_TRANSPOSE openblas_transpose(bool is_transposed) {
  return is_transposed ? CblasTrans : CblasNoTrans;
}
// As many threads as the stream asks for.
void set_openblas_threads(const runtime::StreamView& stream);
std::string openblas_version();

}  // namespace warpladder::ops
