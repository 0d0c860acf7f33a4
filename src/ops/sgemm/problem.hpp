#pragma once
// C[m×n] = alpha · op(A)[m×k] · op(B)[k×n] + beta · C, fp32, as BLAS defines it.
//
// Sizes count elements. In row-major storage element (i, j) of a matrix with leading dimension ld
// lies at i·ld + j, in column-major storage at i + j·ld. beta == 0 never reads C; alpha == 0 or
// k == 0 never reads A or B. Included by rungs: plain data and arithmetic only.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/status.hpp"

namespace warpladder::sgemm {

enum class Layout { row_major, column_major };

struct Problem {
  std::int64_t m = 0, n = 0, k = 0;
  Layout layout = Layout::row_major;
  bool trans_a = false, trans_b = false;
  float alpha = 1.0f, beta = 0.0f;
  std::int64_t lda = 0, ldb = 0, ldc = 0;

  // Elements from the first to the last of each operand, gaps between lines included.
  struct Footprint {
    std::int64_t a_elements, b_elements, c_elements;
  };
};

// What the caller promises of A's and B's values. `moderate`: they are finite, and those that
// matter of a row of A, or a column of B, lie within about 2^16 of each other. The largest lies
// between 2^-78 and 2^78. Nothing holds without it for rungs that say so; the others need no
// promise.
enum class Values { any, moderate };

// What a plan may take. accurate: the fastest arithmetic whose errors are no larger than an FP32
// dot product's. cuda_cores: FP32 multiply-adds alone. double_rounded: float64 sums, each rounded
// once.
enum class Arithmetic { accurate, cuda_cores, double_rounded };

// Independent products of the same sizes. Matrix i lies i·stride elements behind the call's a, b
// and c; a stride of 0 shares an operand. Where `arrays` is set, the device arrays a, b and c hold
// a pointer for each matrix instead. The call's own pointers and the strides are then not used.
struct Batch {
  std::int64_t count = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  bool arrays = false;
  const float* const* a = nullptr;
  const float* const* b = nullptr;
  float* const* c = nullptr;
};

// The batch of the twins of its products: A and B change places.
inline Batch twins_of(Batch batch) {
  std::swap(batch.a, batch.b);
  std::swap(batch.stride_a, batch.stride_b);
  return batch;
}

// A problem and where its operands lie in device memory. The workspace, of workspace_bytes() from a
// multiple of 256, belongs to the call until it has ended. Results are right whatever it holds, but
// for tc_11, which prepares B there for calls of the same problem.
struct Call {
  Problem problem;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  void* workspace = nullptr;
  Values values = Values::any;
  Batch batch = {};
  Arithmetic arithmetic = Arithmetic::accurate;  // for plans; a rung has its own
  // What a rung has prepared of B, from a multiple of 256: prepared_bytes(). Calls only read it, so
  // any number of them may use it at the same time. In the twin of a call it belongs to A.
  void* prepared_a = nullptr;
  void* prepared_b = nullptr;
  // What beta multiplies instead of C: a matrix in C's layout, or where ld_source is 0 one line for
  // all lines of C. Of single products, for rungs that takes_source.
  const float* source = nullptr;
  std::int64_t ld_source = 0;

  // Rungs that know nothing of batches launch the products of a strided one after the other.
  static bool takes_by_default(const Call& call) { return !call.batch.arrays; }
};
inline bool is_single(const Call& call) { return call.batch.count == 1 && !call.batch.arrays; }
// For rungs and rivals that take such calls only.
inline bool promises_moderate_values(const Call& call) {
  return !call.batch.arrays && call.values == Values::moderate;
}

// Stored shapes: of A as it lies in memory (m×k, or k×m if transposed), and so on.
struct StoredShape {
  std::int64_t rows, columns;
};
inline StoredShape stored_a(const Problem& p) {
  return p.trans_a ? StoredShape{p.k, p.m} : StoredShape{p.m, p.k};
}
inline StoredShape stored_b(const Problem& p) {
  return p.trans_b ? StoredShape{p.n, p.k} : StoredShape{p.k, p.n};
}
inline StoredShape stored_c(const Problem& p) { return {p.m, p.n}; }

// The smallest legal leading dimension of a stored matrix.
inline std::int64_t least_ld(const Problem& p, StoredShape shape) {
  const std::int64_t line = p.layout == Layout::row_major ? shape.columns : shape.rows;
  return line > 1 ? line : 1;
}

// The same product written for the other layout. A column-major matrix is the row-major storage of
// its transpose, and Cᵀ = op(B)ᵀ·op(A)ᵀ. So A and B change places and nothing is copied.
inline Problem in_layout(const Problem& p, Layout layout) {
  if (p.layout == layout) return p;
  return {p.n, p.m, p.k, layout, p.trans_b, p.trans_a, p.alpha, p.beta, p.ldb, p.lda, p.ldc};
}
inline Call in_layout(Call call, Layout layout) {
  if (call.problem.layout == layout) return call;
  Call twin = call;
  twin.problem = in_layout(call.problem, layout);
  twin.a = call.b;
  twin.b = call.a;
  twin.batch = twins_of(call.batch);
  twin.prepared_a = call.prepared_b;
  twin.prepared_b = call.prepared_a;
  return twin;
}

// Floating-point operations, and the bytes that must move at the least. Each operand is read once;
// C is written once, and read once if beta asks for it.
double flops(const Problem& p);
double minimal_bytes(const Problem& p);

// Of the rungs that use tensor cores: 8 bytes for each element of A and B, k rounded up to a
// multiple of 64. And 32 bytes for each of their rows and columns.
std::size_t workspace_bytes(const Problem& p);
// The same for a product with a prepared B: of A's rows alone. Where alpha or k is 0, of both.
std::size_t prepared_workspace_bytes(const Problem& p);
// Of a prepared B: 12 bytes for each element, k rounded up to a multiple of 64, and 32 for each
// column.
std::size_t prepared_bytes(const Problem& p);

// Refuses a negative size, a leading dimension that is too small, and operands that are too large
// to address.
runtime::Status check(const Problem& p, Problem::Footprint* footprint = nullptr) noexcept;

// The compact problem of a shape: leading dimensions at their least.
Problem compact(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout = Layout::row_major,
                bool trans_a = false, bool trans_b = false, float alpha = 1.0f, float beta = 0.0f);

}  // namespace warpladder::sgemm
