#pragma once
// out[j][i] = in[i][j], fp32, for each of `batch` matrices; square ones also in place.
//
// Sizes count elements. Matrices are row-major: element (i, j) of the rows×columns input lies at
// i·ld_in + j, element (j, i) of the columns×rows output at j·ld_out + i. The matrices of a batch
// lie stride_in and stride_out apart. A column-major matrix is the row-major storage of its
// transpose, so nothing is lost. Included by rungs: plain data and arithmetic only.

#include <cstdint>

#include "runtime/status.hpp"

namespace warpladder::transpose {

struct Problem {
  std::int64_t rows = 0, columns = 0;
  std::int64_t ld_in = 0, ld_out = 0;
  std::int64_t batch = 1, stride_in = 0, stride_out = 0;

  // Elements from the first to the last of either operand, gaps included.
  struct Footprint {
    std::int64_t in_elements, out_elements;
  };
};

// Whether this is a batch without gaps, of matrices of up to so many elements. It is one piece of
// memory, of which many blocks take a few matrices each.
constexpr std::int64_t kSmallMatrix = 4096;
constexpr bool is_small_batch(const Problem& p) {
  const std::int64_t elements = p.rows * p.columns;
  return p.batch > 1 && p.rows <= kSmallMatrix && p.columns <= kSmallMatrix &&
         elements <= kSmallMatrix && p.ld_in == p.columns && p.ld_out == p.rows &&
         p.stride_in == elements && p.stride_out == elements;
}

// A problem and where its operands lie in device memory. They do not overlap, or are the same: then
// the matrices are square, and so are ld and stride of both.
struct Call {
  Problem problem;
  const float* in = nullptr;
  float* out = nullptr;

  bool in_place() const { return in == out && in != nullptr; }
};

// Calls visit(part of the call) for parts that together are the whole: of at most `most_columns`
// columns and `most_matrices` matrices each, column by column within as many matrices.
template <class Visit>
void for_each_part(const Call& call, std::int64_t most_columns, std::int64_t most_matrices,
                   const Visit& visit) {
  const Problem& p = call.problem;
  for (std::int64_t matrix = 0; matrix < p.batch; matrix += most_matrices) {
    for (std::int64_t column = 0; column < p.columns; column += most_columns) {
      Call part = call;
      part.problem.batch = p.batch - matrix < most_matrices ? p.batch - matrix : most_matrices;
      part.problem.columns = p.columns - column < most_columns ? p.columns - column : most_columns;
      part.in += matrix * p.stride_in + column;
      part.out += matrix * p.stride_out + column * p.ld_out;
      visit(part);
    }
  }
}

// Each element read once and written once.
double minimal_bytes(const Problem& p);

// Refuses negative sizes, leading dimensions and strides that are too small, and operands that are
// too large to address.
runtime::Status check(const Problem& p, Problem::Footprint* footprint = nullptr) noexcept;

// Leading dimensions and strides at their least.
Problem compact(std::int64_t rows, std::int64_t columns, std::int64_t batch = 1);

}  // namespace warpladder::transpose
