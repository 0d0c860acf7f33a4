#pragma once
// The rows, or the columns, of an fp32 matrix reduced to one value each: their sums, means, least
// or greatest values, or where those are. What a function gives, of nothing or of NaNs, is what it
// gives in ops/reduce/problem.hpp; a place counts along the line that is reduced.
//
// Matrices are row-major: element (i, j) lies at i·ld + j. Of a column-major matrix the rows are
// the columns of its transpose, so nothing is lost. Included by rungs: plain data and arithmetic
// only.

#include <cstddef>
#include <cstdint>

#include "parts/reduction_function.hpp"
#include "runtime/machine.hpp"
#include "runtime/status.hpp"

namespace warpladder::reduce_axis {

using parts::Function;
using parts::is_place;
using parts::kFunctions;

enum class Lines { rows, columns };

struct Problem {
  Function function = Function::sum;
  Lines lines = Lines::rows;
  std::int64_t rows = 0, columns = 0, ld = 0;
  using Footprint = std::int64_t;  // elements from the first to the last, gaps included

  // How many results there are, and how many elements each is made of.
  constexpr std::int64_t results() const { return lines == Lines::rows ? rows : columns; }
  constexpr std::int64_t length() const { return lines == Lines::rows ? columns : rows; }
};

// A problem and where its operands lie in device memory. One result after the other.
struct Call {
  Problem problem;
  const float* in = nullptr;
  float* values = nullptr;         // the results, unless they are places
  std::int64_t* places = nullptr;  // the results, if they are
  // flag_words() words, all zero, and every launch leaves them so; they belong to one stream.
  std::uint64_t* flags = nullptr;
};

// A line that is split among blocks leaves a word for each result of each block, or two. The most
// are those of two blocks a multiprocessor with strips of 32 columns.
inline std::size_t flag_words(const runtime::Machine& machine) {
  return std::size_t{2 * 32 * 2} * static_cast<std::size_t>(machine.multiprocessors);
}

// Each element read once, each result written once.
double minimal_bytes(const Problem& p);
// Refuses negative sizes, a leading dimension that is too small, and a matrix that is too large to
// address.
runtime::Status check(const Problem& p, Problem::Footprint* footprint = nullptr) noexcept;

}  // namespace warpladder::reduce_axis
