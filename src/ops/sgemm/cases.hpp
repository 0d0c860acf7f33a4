#pragma once
// The products that every sgemm rung must get right: one list for tests, verify and bench.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {

enum class Filling {
  uniform,   // [-1, 1]
  positive,  // [0, 1]: sums grow with k
  specials,  // uniform with a NaN, an infinity and a pair of infinities of opposite sign
};

struct GemmCase {
  std::string name;
  Problem problem;
  Filling filling = Filling::uniform;
  bool nan_in_unread = false;  // operands that BLAS forbids to read hold NaN
  std::size_t misalign_a = 0, misalign_b = 0, misalign_c = 0;  // elements off a 256-byte boundary
};

std::vector<GemmCase> gemm_cases();

// The rows of C whose every element is compared with the reference: all of them, where that ends in
// seconds. Of a larger product, whose truth would take minutes, the first, the last and one at
// random in each of 128 equal bands, so that no tile of 128 rows goes unseen up to m = 16384.
std::vector<std::int64_t> judged_rows(const Problem& problem);
GemmCase gemm_case_of_shape(std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace warpladder::sgemm
