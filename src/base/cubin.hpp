#pragma once
// What a cubin says of its kernels: registers and static shared memory, read from its ELF sections
// without a CUDA toolkit.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder {

struct CubinKernel {
  std::string symbol;
  unsigned registers = 0;               // of a thread
  std::size_t static_shared_bytes = 0;  // of a block
};

// Throws Error(bad_input) that begins with `name` for what is no cubin, or is cut off.
std::vector<CubinKernel> parse_cubin(std::string_view bytes, const std::string& name);
std::vector<CubinKernel> read_cubin(const std::string& path, std::string_view argument);

}  // namespace warpladder
