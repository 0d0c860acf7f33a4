#include "products.hpp"

#include "gpu.hpp"

namespace warpladder::torch_binding {
namespace {

float* output_data(const Tensor& tensor) { return static_cast<float*>(tensor.mutable_data_ptr()); }

void check_product(const char* op, const Named& a, const Named& b, std::int64_t dims) {
  check_dims(op, a, dims);
  check_dims(op, b, dims);
  const bool same_batch = dims == 2 || a.view.size(0) == b.view.size(0);
  if (same_batch && a.view.size(dims - 1) == b.view.size(dims - 2)) return;
  refuse(op, std::string(a.name) + " of shape " + shape_of(a.view) + " and " + b.name +
                 " of shape " + shape_of(b.view) + " cannot be multiplied");
}

// The elements of c, broadcast to the shape of the product that is added to them.
Tensor broadcast(const char* op, const Named& c, const std::vector<std::int64_t>& shape) {
  const auto dims = static_cast<std::int64_t>(shape.size());
  bool fits = c.view.dims <= dims;
  for (std::int64_t d = 0; fits && d < c.view.dims; ++d) {
    const std::int64_t size = c.view.size(c.view.dims - 1 - d);
    fits = size == 1 || size == shape[static_cast<std::size_t>(dims - 1 - d)];
  }
  if (!fits) {
    refuse(op, std::string(c.name) + " of shape " + shape_of(c.view) +
                   " does not broadcast to the product's shape " +
                   shape_of(shape.data(), shape.size()));
  }
  return new_tensor(c.view, shape);
}

Tensor add_product(const char* op, const Tensor& c, const Tensor& a, const Tensor& b, double beta,
                   double alpha, std::int64_t dims) {
  const View view_a(a), view_b(b), view_c(c);
  check_floats(op, {"a", view_a}, {{"b", view_b}, {"c", view_c}});
  check_product(op, {"a", view_a}, {"b", view_b}, dims);
  Tensor out = broadcast(op, {"c", view_c}, product_shape(view_a, view_b));
  const Addend added = addend_of(c, out);
  multiply_into(op, out, a, b, static_cast<float>(added.data ? beta : 0.0),
                static_cast<float>(alpha), added);
  return added.data ? out : plus(out, c, beta);
}

}  // namespace

std::vector<std::int64_t> product_shape(const View& a, const View& b) {
  std::vector<std::int64_t> shape(a.sizes, a.sizes + a.dims);
  if (b.dims > 0 && !shape.empty()) shape.back() = b.size(b.dims - 1);
  return shape;
}

Addend addend_of(const Tensor& c, const Tensor& out) {
  const View view(c), product(out);
  if (product.dims != 2 || view.dims < 1 || view.dims > 2) return {};
  const std::int64_t m = product.size(0), n = product.size(1), last = view.dims - 1;
  const bool whole_rows = view.size(last) == n && (n == 1 || view.stride(last) == 1);
  if (m == 0 || n == 0 || !whole_rows) return {};
  const auto* const data = static_cast<const float*>(c.const_data_ptr());
  const bool one_row = last == 0 || view.size(0) == 1 || view.stride(0) == 0;
  if (one_row) return {data, 0};
  return view.stride(0) >= n ? Addend{data, view.stride(0)} : Addend{};
}

warpladder_status try_to_multiply(const char* op, const Tensor& out, const Tensor& a,
                                  const Tensor& b, float beta, float alpha, Addend added) {
  const View view_out(out), view_a(a), view_b(b);
  const std::int64_t d = view_a.dims - 2, m = view_a.size(d), k = view_a.size(d + 1),
                     n = view_b.size(d + 1), batch = d > 0 ? view_a.size(0) : 1;
  if (m == 0 || n == 0 || batch == 0) return WARPLADDER_SUCCESS;
  const Gpu gpu(op, view_a);
  const Operand left = matrix_of(a, view_a), right = matrix_of(b, view_b);
  const std::int64_t ldc = m > 1 ? view_out.stride(d) : n;
  if (added.data) {
    return warpladder_sgemm_add(gpu.handle, WARPLADDER_ROW_MAJOR, left.op, right.op, m, n, k, alpha,
                                left.data, left.ld, right.data, right.ld, beta, added.data,
                                added.ld, output_data(out), ldc, gpu.stream);
  }
  if (batch == 1) {
    return warpladder_sgemm(gpu.handle, WARPLADDER_ROW_MAJOR, left.op, right.op, m, n, k, alpha,
                            left.data, left.ld, right.data, right.ld, beta, output_data(out), ldc,
                            gpu.stream);
  }
  return warpladder_sgemm_strided_batched(
      gpu.handle, WARPLADDER_ROW_MAJOR, left.op, right.op, m, n, k, alpha, left.data, left.ld,
      left.batch_stride, right.data, right.ld, right.batch_stride, beta, output_data(out), ldc,
      view_out.stride(0), batch, gpu.stream);
}

void multiply_into(const char* op, const Tensor& out, const Tensor& a, const Tensor& b, float beta,
                   float alpha, Addend added) {
  check(op, try_to_multiply(op, out, a, b, beta, alpha, added));
}

Tensor plus(const Tensor& product, const Tensor& c, double beta) {
  // The stable interface has no add().
  return beta == 0.0 ? product : torch::stable::subtract(product, c, -beta);
}

Tensor mm(const Tensor& a, const Tensor& b) {
  constexpr const char* kOp = "warpladder::mm";
  const View view_a(a), view_b(b);
  check_floats(kOp, {"a", view_a}, {{"b", view_b}});
  check_product(kOp, {"a", view_a}, {"b", view_b}, 2);
  Tensor out = new_tensor(view_a, product_shape(view_a, view_b));
  multiply_into(kOp, out, a, b, 0.0f, 1.0f);
  return out;
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  constexpr const char* kOp = "warpladder::bmm";
  const View view_a(a), view_b(b);
  check_floats(kOp, {"a", view_a}, {{"b", view_b}});
  check_product(kOp, {"a", view_a}, {"b", view_b}, 3);
  Tensor out = new_tensor(view_a, product_shape(view_a, view_b));
  multiply_into(kOp, out, a, b, 0.0f, 1.0f);
  return out;
}

Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha) {
  return add_product("warpladder::addmm", c, a, b, beta, alpha, 2);
}

Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, double beta, double alpha) {
  return add_product("warpladder::baddbmm", c, a, b, beta, alpha, 3);
}

Tensor mv(const Tensor& a, const Tensor& x) {
  constexpr const char* kOp = "warpladder::mv";
  const View view_a(a), view_x(x);
  check_floats(kOp, {"a", view_a}, {{"x", view_x}});
  check_dims(kOp, {"a", view_a}, 2);
  check_dims(kOp, {"x", view_x}, 1);
  const std::int64_t m = view_a.size(0), n = view_a.size(1);
  if (view_x.size(0) != n) {
    refuse(kOp, "a of shape " + shape_of(view_a) + " and x of shape " + shape_of(view_x) +
                    " cannot be multiplied");
  }
  Tensor out = new_tensor(view_a, {m});
  if (m == 0) return out;
  if (n == 0) return torch::stable::zero_(out);
  const Gpu gpu(kOp, view_a);
  const Operand matrix = matrix_of(a, view_a);
  const Vector vector = vector_of(x, view_x);
  const bool turned = matrix.op == WARPLADDER_OP_T;  // stored as its transpose, n×m
  check(kOp, warpladder_sgemv(gpu.handle, WARPLADDER_ROW_MAJOR, matrix.op, turned ? n : m,
                              turned ? m : n, 1.0f, matrix.data, matrix.ld, vector.data,
                              vector.increment, 0.0f, output_data(out), 1, gpu.stream));
  return out;
}

namespace {

void check_indices(const char* op, const Named& indices, const Named& values) {
  const View& view = indices.view;
  const bool fits =
      view.dtype == aoti_torch_dtype_int32() || view.dtype == aoti_torch_dtype_int64();
  if (!fits) refuse(op, std::string(indices.name) + " is neither int32 nor int64");
  check_dims(op, indices, 1);
  if (view.device_type != values.view.device_type || view.device != values.view.device) {
    refuse(op, std::string(indices.name) + " and values are on different devices");
  }
}

}  // namespace

Tensor spmm_csr_vector(const Tensor& row_offsets, const Tensor& columns, const Tensor& values,
                       const Tensor& x) {
  constexpr const char* kOp = "warpladder::spmm_csr_vector";
  const View view_r(row_offsets), view_c(columns), view_v(values), view_x(x);
  check_floats(kOp, {"values", view_v}, {{"x", view_x}});
  check_dims(kOp, {"values", view_v}, 1);
  check_dims(kOp, {"x", view_x}, 1);
  check_indices(kOp, {"crow_indices", view_r}, {"values", view_v});
  check_indices(kOp, {"col_indices", view_c}, {"values", view_v});
  if (view_r.size(0) < 1) refuse(kOp, "crow_indices is empty; it needs an element more than rows");
  if (view_c.size(0) != view_v.size(0)) {
    refuse(kOp, "col_indices has " + std::to_string(view_c.size(0)) + " elements, but values has " +
                    std::to_string(view_v.size(0)));
  }
  // The library's column indices have 32 bits. PyTorch's own have 64, which costs a copy.
  const Tensor offsets = dense(row_offsets), indices = in_32_bits(columns), entries = dense(values),
               vector = dense(x);
  warpladder_csr matrix{};
  matrix.rows = view_r.size(0) - 1;
  matrix.columns = view_x.size(0);
  matrix.nnz = view_v.size(0);
  matrix.offset_type =
      view_r.dtype == aoti_torch_dtype_int32() ? WARPLADDER_INDEX_32 : WARPLADDER_INDEX_64;
  matrix.row_offsets = offsets.const_data_ptr();
  matrix.column_indices = static_cast<const std::int32_t*>(indices.const_data_ptr());
  matrix.values = static_cast<const float*>(entries.const_data_ptr());
  Tensor out = new_tensor(view_v, {matrix.rows});
  if (matrix.rows == 0) return out;
  const Gpu gpu(kOp, view_v);
  check(kOp, warpladder_spmv(gpu.handle, &matrix, 1.0f,
                             static_cast<const float*>(vector.const_data_ptr()), 0.0f,
                             output_data(out), gpu.stream));
  return out;
}

}  // namespace warpladder::torch_binding
