#pragma once
// The products that every sgemm rung must get right: one list for tests, verify and bench.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {

enum class Filling {
  uniform,   // [-1, 1]
  positive,  // [0, 1]: sums grow with k
  wide,      // of either sign, magnitudes from 2^-20 to 2^20, logarithmically uniform
  specials,  // uniform with a NaN, an infinity and a pair of infinities of opposite sign
};

struct GemmCase {
  std::string name;
  Problem problem;
  Filling filling = Filling::uniform;
  bool nan_in_unread = false;  // operands that BLAS forbids to read hold NaN
  std::size_t misalign_a = 0, misalign_b = 0, misalign_c = 0;  // elements off a 256-byte boundary
};

// The layouts and transposes of A and B that bench tells apart, and what it fills them with.
struct Variant {
  const char* name;
  Layout layout;
  bool trans_a, trans_b;
  Filling filling = Filling::uniform;
};
constexpr Variant kVariants[] = {{"row_nn", Layout::row_major, false, false},
                                 {"row_nt", Layout::row_major, false, true},
                                 {"row_tn", Layout::row_major, true, false},
                                 {"row_tt", Layout::row_major, true, true},
                                 {"col_nn", Layout::column_major, false, false},
                                 {"col_nt", Layout::column_major, false, true},
                                 {"col_tn", Layout::column_major, true, false},
                                 {"col_tt", Layout::column_major, true, true},
                                 {"row_nn_wide", Layout::row_major, false, false, Filling::wide}};

std::vector<GemmCase> gemm_cases();

// The rows of C whose every element is compared with the reference: all of them, where that ends in
// seconds. Of a larger product, whose truth would take minutes, the first, the last and one at
// random in each of 128 equal bands, so that no tile of 128 rows goes unseen up to m = 16384.
std::vector<std::int64_t> judged_rows(const Problem& problem);
// `variant`: the name of one of kVariants.
GemmCase gemm_case_of_shape(std::int64_t m, std::int64_t n, std::int64_t k,
                            std::string_view variant);

}  // namespace warpladder::sgemm
