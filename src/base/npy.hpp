#pragma once
// NumPy's .npy files of fp32: read in format versions 1.0, 2.0 and 3.0, written as NumPy does, as
// are arrays of places, which are int64.
// Errors are one sentence that begins with the argument (may be empty) and the file.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder {

struct NpyArray {
  std::vector<std::int64_t> shape;  // empty for a scalar, which has one element
  bool fortran_order = false;       // the first index runs fastest
  std::vector<float> data;          // in the file's own order
};

// `path` may be a pipe. A shape is checked against the size of the file before it gets memory.
NpyArray read_npy(const std::string& path, std::string_view argument = {});

// The same from memory; `name` begins the sentences.
NpyArray parse_npy(std::span<const std::byte> bytes, std::string_view name);

// The file appears whole or not at all (base/atomic_file.hpp).
void write_npy(const std::string& path, std::span<const std::int64_t> shape,
               std::span<const float> data, bool fortran_order = false,
               std::string_view argument = {});
// In C order.
void write_npy_places(const std::string& path, std::span<const std::int64_t> shape,
                      std::span<const std::int64_t> places, std::string_view argument = {});

}  // namespace warpladder
