#pragma once
// Products of FP32 tensors on a CUDA device. Each checks its arguments and throws.

#include <optional>

#include "tensors.hpp"

namespace warpladder::torch_binding {

Tensor mm(const Tensor& a, const Tensor& b);
Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha);
Tensor bmm(const Tensor& a, const Tensor& b);
Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha);
Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias);
// Prepares the weight of many linear layers' calls, and returns its number.
std::int64_t prepare(const Tensor& weight);
// linear() with a prepared weight of `outputs` rows.
Tensor linear_prepared(const Tensor& input, std::int64_t prepared, std::int64_t outputs,
                       const std::optional<Tensor>& bias);
// Frees it behind what the current stream of its device was given. Never throws.
void release_prepared(std::int64_t prepared) noexcept;
// product + beta · c, c broadcast to the product's shape, which it fits, but which the library
// cannot add on the way.
Tensor plus(const Tensor& product, const Tensor& c, double beta);
Tensor mv(const Tensor& a, const Tensor& x);
Tensor spmm_csr_vector(const Tensor& row_offsets, const Tensor& columns, const Tensor& values,
                       const Tensor& x);

// The sizes of A·B, or of each product of a batch.
std::vector<std::int64_t> product_shape(const View& a, const View& b);

// What the library adds to a product as it stores it. ld: between rows; 0: one row for all.
struct Addend {
  const float* data = nullptr;  // null: it adds nothing, or `out` itself
  std::int64_t ld = 0;
};
// c as an addend of a product with the shape of `out`, to which it broadcasts. It is null where the
// library cannot read it so: in batches, and where neighbours in a row do not lie side by side.
Addend addend_of(const Tensor& c, const Tensor& out);

// out = alpha · A · B + beta · (added or out) for matrices, or for batches of them, whose shapes
// fit. `out` has rows that lie beside each other.
void multiply_into(const char* op, const Tensor& out, const Tensor& a, const Tensor& b, float beta,
                   float alpha, Addend added = {});
// As multiply_into(), but what the library refuses is returned and nothing thrown.
warpladder_status try_to_multiply(const char* op, const Tensor& out, const Tensor& a,
                                  const Tensor& b, float beta, float alpha, Addend added);

}  // namespace warpladder::torch_binding
