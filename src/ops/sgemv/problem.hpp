#pragma once
// y = alpha · op(A) · x + beta · y, fp32, as BLAS defines it: A has m rows and n columns, op(A) is
// A or its transpose.
//
// Sizes count elements. In row-major storage element (i, j) of A lies at i·lda + j, in column-major
// storage at i + j·lda. Element i of x lies at i·incx; under a negative increment the vector is
// walked from its far end, so that element 0 lies last. The same holds for y. m == 0 or n == 0 does
// nothing at all, beta == 0 never reads y, alpha == 0 never reads A or x. Included by rungs: plain
// data and arithmetic only.

#include <cstdint>

#include "runtime/status.hpp"

namespace warpladder::sgemv {

enum class Layout { row_major, column_major };

struct Problem {
  std::int64_t m = 0, n = 0;
  Layout layout = Layout::row_major;
  bool trans = false;
  float alpha = 1.0f, beta = 0.0f;
  std::int64_t lda = 0, incx = 1, incy = 1;

  // Elements from the first to the last of each operand, gaps included.
  struct Footprint {
    std::int64_t a_elements, x_elements, y_elements;
  };
};

// The elements of y, and the products that each of them is the sum of.
inline std::int64_t outputs(const Problem& p) { return p.trans ? p.n : p.m; }
inline std::int64_t terms(const Problem& p) { return p.trans ? p.m : p.n; }

// A as it lies in memory: lines, each in one piece. A line is a row, or a column in column-major
// storage.
inline std::int64_t lines(const Problem& p) { return p.layout == Layout::row_major ? p.m : p.n; }
inline std::int64_t length(const Problem& p) { return p.layout == Layout::row_major ? p.n : p.m; }
// Whether the sums run across the lines (y = Σ line·x[line]) or along each (y[line] = line·x). The
// four variants are two, for a column-major matrix is the row-major storage of its transpose.
inline bool across_lines(const Problem& p) { return (p.layout == Layout::row_major) == p.trans; }

// Rungs may cut a sum into pieces that several blocks make, and join these in a workspace. The most
// pieces that a rung may make of each sum: they are to be worth a block, and all to fit there.
inline std::int64_t most_pieces(const Problem& p) {
  constexpr std::int64_t kLeastTerms = 32, kMostPartialSums = 1 << 17;
  const std::int64_t by_terms = terms(p) / kLeastTerms,
                     by_space = kMostPartialSums / ((outputs(p) + 127) / 128 * 128 + 1),
                     most = by_terms < by_space ? by_terms : by_space;
  return most > 1 ? most : 1;
}
// The workspace of a call. Flags belong to one stream; each call finds them all zero and leaves
// them so. Of the scratch it may expect nothing.
inline std::int64_t flag_words(const Problem& p) {
  return (outputs(p) + 127) / 128 * 128 * ((most_pieces(p) + 2) / 4 * 4);
}
inline std::int64_t scratch_elements(const Problem& p) {
  return most_pieces(p) > 1 ? outputs(p) * most_pieces(p) : 0;
}

// A problem, where its operands lie in device memory (y overlaps neither A nor x), and its
// workspace. x and y point to the lowest address of their vectors, as in BLAS.
struct Call {
  Problem problem;
  const float* a = nullptr;
  const float* x = nullptr;
  float* y = nullptr;
  std::uint64_t* flags = nullptr;
  float* scratch = nullptr;
};

// Floating-point operations, and the bytes that must move at the least. A and x are read once; y is
// written once, and read once if beta asks for it.
double flops(const Problem& p);
double minimal_bytes(const Problem& p);

// Refuses a negative size, a leading dimension that is too small, an increment of 0, and operands
// that are too large to address.
runtime::Status check(const Problem& p, Problem::Footprint* footprint = nullptr) noexcept;

// The compact problem of a shape: the leading dimension at its least, increments of 1.
Problem compact(std::int64_t m, std::int64_t n, Layout layout = Layout::row_major,
                bool trans = false, float alpha = 1.0f, float beta = 0.0f);

}  // namespace warpladder::sgemv
