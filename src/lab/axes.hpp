#pragma once
// The sizes of a benchmark, as users write them: each -a gives the values of one size, or of
// several at once.
//
//   -a 'm,n,k=[pow2:5:8]'   32, 64, 128, 256; m, n and k alike
//   -a 'm=[16,32]'          a list
//   -a 'm=[64:256:64]'      start:stop:step, the stop included if a step meets it
//   -a 'm=64'               one value
//
// Several axes are multiplied; the last one varies fastest.
//
//   -a 'shape=[64x32,100x7]'  whole shapes, instead

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder::lab {

struct Axis {
  std::vector<std::string> names;
  std::vector<std::int64_t> values;
};

// Throws Error(bad_input), as do the functions below.
Axis parse_axis(std::string_view text);

// "shape=[4x5,6x7]" lists whole shapes: "4x5", "6x7". Brackets may be left out around one.
std::vector<std::string> parse_list(std::string_view text);

// The names of an operator's sizes, in the order of its shape: "MxNxK" has m, n and k.
std::vector<std::string> size_names(std::string_view shape_form);

// The product of the axes. A size without an axis takes its value from `defaults`. `subject`, an
// operator, ends the sentence about an unknown size.
std::vector<std::vector<std::int64_t>> shapes_of(const std::vector<Axis>& axes,
                                                 const std::vector<std::string>& names,
                                                 const std::vector<std::int64_t>& defaults,
                                                 const std::string& subject);

}  // namespace warpladder::lab
