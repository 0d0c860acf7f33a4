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
  // Of several products: how many, and whether `arrays` of pointers tell where their matrices lie.
  // The strides hold in either case; those of C keep its matrices apart.
  Batch batch = {};
  Arithmetic arithmetic = Arithmetic::accurate;
};

// The elements of all matrices of each operand, from the first to the last.
Problem::Footprint elements_of(const GemmCase& c);

// The first elements of one product's matrices, from the operands' first. Where there are arrays of
// pointers, the products take the matrices of A, of B and of C in three different orders.
struct Offsets {
  std::size_t a = 0, b = 0, c = 0;
};
Offsets offsets_of(const GemmCase& c, std::int64_t product);

// Of all products; of an operand that they share, the bytes count once.
double flops(const GemmCase& c);
double minimal_bytes(const GemmCase& c);

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

inline constexpr const char* kDetails =
    "batch=N [stride_a=N] [stride_b=N] [stride_c=N] [arrays]: N products, their matrices so many "
    "elements apart (0: shared), or found through arrays of pointers; "
    "arithmetic=accurate|cuda_cores|double_rounded: what dispatch may take";

std::vector<GemmCase> gemm_cases();

// The rows of C whose every element is compared with the reference: all of them, where that ends in
// seconds. Of a larger product, whose truth would take minutes, the first, the last and one at
// random in each of 128 equal bands. So no tile of 128 rows goes unseen up to m = 16384.
std::vector<std::int64_t> judged_rows(const Problem& problem);
// Of each product of a batch.
std::vector<std::int64_t> judged_rows(const GemmCase& c);
// `variant`: the name of one of kVariants, and after it details. Throws Error(bad_input) for
// details that are wrong, or whose matrices would overlap or are too large to address.
GemmCase gemm_case_of_shape(std::int64_t m, std::int64_t n, std::int64_t k,
                            std::string_view variant);

}  // namespace warpladder::sgemm
