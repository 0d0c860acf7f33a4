#pragma once
// The header of a NumPy .npy file: a Python dict literal that says dtype, order and shape. A part
// of base/npy.hpp, which reads and writes whole files.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyHeader {
  std::vector<std::int64_t> shape;
  bool fortran_order = false;
  std::string_view descr = "<f4";  // NumPy's word for the elements' type; what is read is fp32
};

// `text` is the dict with its padding. Throws unless it describes an fp32 array whose bytes can be
// counted; `name` (as in "--a 'A.npy'") begins the sentence.
NpyHeader parse_npy_header(std::string_view text, std::string_view name);

// Everything before the data: magic, version, length, dict, padding; byte for byte NumPy's.
std::string format_npy_header(const NpyHeader& header);

// (3, 4) as Python writes it.
std::string format_npy_shape(std::span<const std::int64_t> shape);

// The elements of the shape. Throws if a size is negative, or if the bytes pass 2^63. A size of 0
// does not change that, because strides are products of the other sizes.
std::int64_t npy_element_count(std::span<const std::int64_t> shape, std::string_view name);

}  // namespace warpladder
