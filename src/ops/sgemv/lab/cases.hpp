#pragma once
// The problems that every sgemv rung must get right: one list for tests, verify and bench.

#include <cstddef>
#include <string>
#include <vector>

#include "ops/sgemv/problem.hpp"

namespace warpladder::sgemv {

enum class Filling {
  uniform,   // [-1, 1]
  integers,  // -2 … 2: sums are exact in any order, so that no error at all is allowed
  specials,  // uniform with a NaN and infinities of either sign
};

struct GemvCase {
  std::string name;
  Problem problem;
  Filling filling = Filling::uniform;
  bool nan_in_unread = false;  // operands that BLAS forbids to read hold NaN
  std::size_t misalign_a = 0, misalign_x = 0, misalign_y = 0;  // elements off a 256-byte boundary
};

// The four variants, by name: which storage, and A or its transpose.
struct Variant {
  const char* name;
  Layout layout;
  bool trans;
};
constexpr Variant kVariants[] = {{"row_n", Layout::row_major, false},
                                 {"row_t", Layout::row_major, true},
                                 {"col_n", Layout::column_major, false},
                                 {"col_t", Layout::column_major, true}};

GemvCase plain_gemv_case(const Problem& problem);
std::vector<GemvCase> gemv_cases();
// More than 2^31 elements of A, in each variant; sums short enough to have a bound.
std::vector<GemvCase> large_gemv_cases();

}  // namespace warpladder::sgemv
