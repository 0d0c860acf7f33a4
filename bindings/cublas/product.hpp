#pragma once
// A call as warpladder would compute it, and the decision whether it does.

#include <cublas_api.h>

#include <cstdint>

#include "elements.hpp"
#include "knobs.hpp"
#include "originals.hpp"
#include "report.hpp"
#include "warpladder/warpladder.h"

namespace warpladder::cublas {

struct Operand {
  const float* data = nullptr;
  std::int64_t ld = 0, stride = 0;         // stride: from matrix to matrix; of a vector's elements
  const float* const* pointers = nullptr;  // a matrix each: cublasSgemmBatched()
};

// D[m×n] = activation(alpha · op(A) · op(B) + beta · C + bias). Without cublasLt D is C. For
// cublasSgemv() op(A) is m×n as BLAS counts, B is x and D is y.
struct Product {
  Function function = Function::sgemm;
  warpladder_layout layout = WARPLADDER_COLUMN_MAJOR;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  std::int64_t m = 0, n = 0, k = 1, batch = 1;
  bool has_sizes = true;  // false: refused before they were read
  const float* alpha_at = nullptr;
  const float* beta_at = nullptr;
  float alpha = 1, beta = 0;
  Operand a, b, c, d;  // written: d
  Activation activation = Activation::none;
  const float* bias = nullptr;
  std::int64_t bias_stride = 0;
  bool pedantic = false;
  cudaStream_t stream = nullptr;

  bool is_vector() const { return function == Function::sgemv; }
  bool has_pointers() const { return a.pointers != nullptr; }
  bool has_other_c() const { return c.data != d.data; }
  float* out() const { return const_cast<float*>(d.data); }
  Sizes sizes() const;
};

// What can be said without a question to cuBLAS: operations, scalars, sizes, rules.
Outcome judge(Product& product) noexcept;

// Asks the handle for its stream and modes. Outcome::taken: the product may be computed.
Outcome ask(const Original& cublas, cublasHandle_t handle, Product& product) noexcept;

// Counts the call, where anybody is told of it.
inline void note(const Product& product, Outcome outcome) noexcept {
  if (knobs().summary) count(product.function, product.sizes(), outcome);
}

// Computes it on its stream.
Outcome multiply(const Product& product) noexcept;

// Computes it beside its outputs, calls theirs() for the outputs, and compares. cuBLAS's result is
// what the caller gets. Returns what theirs() returned; *outcome says whether there was a
// comparison.
using Theirs = cublasStatus_t (*)(const void* call);
cublasStatus_t verify(const Product& product, Theirs theirs, const void* call,
                      Outcome* outcome) noexcept;

}  // namespace warpladder::cublas
