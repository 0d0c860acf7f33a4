#pragma once
// Files of many problems, for `bench` and `accuracy`. A line is a class, a variant, a shape, and
// optional details of the variant; '#' begins a comment. '-' is the first variant.
//
//   few_rows  row_nn  1x4096x11008
//   batches   row_nt  64x64x64      batch=4096 stride_b=0   # one B

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/lab/operator.hpp"

namespace warpladder::lab {

struct ShapeLine {
  std::size_t line = 0;     // of the file, from 1
  std::string shape_class;  // what the shapes are grouped by
  std::string variant;      // with details
  std::vector<std::int64_t> shape;
};

// Throws Error(bad_input), which names `argument`, the file and the first line at fault. Each line
// must be a problem of the operator, and a file without problems is refused.
std::vector<ShapeLine> read_shapes(const ops::Operator& op, const std::string& path,
                                   const std::string& argument);

}  // namespace warpladder::lab
