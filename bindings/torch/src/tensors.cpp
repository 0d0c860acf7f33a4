#include "tensors.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace warpladder::torch_binding {
namespace {

std::atomic<std::int64_t> copies{0};

std::string device_of(const View& view) {
  if (view.device_type == aoti_torch_device_type_cpu()) return "the CPU";
  const std::string kind =
      is_on_cuda(view) ? "cuda:" : "device type " + std::to_string(view.device_type) + ":";
  return kind + std::to_string(view.device);
}

// Where the rows of a rows×columns matrix lie `ld` apart, with elements beside each other; 0 where
// they do not. One row, or one column, leaves a stride free.
std::int64_t leading_dimension(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                               std::int64_t column_stride) {
  const std::int64_t least = std::max<std::int64_t>(columns, 1);
  if (columns > 1 && column_stride != 1) return 0;
  if (rows <= 1) return least;
  return row_stride >= least ? row_stride : 0;
}

}  // namespace

void refuse(const char* op, const std::string& sentence) {
  throw std::runtime_error(std::string(op) + ": " + sentence);
}

View::View(const Tensor& tensor) {
  std::int64_t *own_sizes = nullptr, *own_strides = nullptr;
  std::int32_t layout = 0;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_dim(tensor.get(), &dims));
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_sizes(tensor.get(), &own_sizes));
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_dtype(tensor.get(), &dtype));
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_type(tensor.get(), &device_type));
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_device_index(tensor.get(), &device));
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_layout(tensor.get(), &layout));
  strided = layout == aoti_torch_layout_strided();
  if (strided) TORCH_ERROR_CODE_CHECK(aoti_torch_get_strides(tensor.get(), &own_strides));
  sizes = own_sizes;
  strides = own_strides;
}

std::string shape_of(const std::int64_t* sizes, std::size_t dims) {
  std::string text = "[";
  for (std::size_t d = 0; d < dims; ++d) text += (d ? ", " : "") + std::to_string(sizes[d]);
  return text + "]";
}
std::string shape_of(const View& view) {
  return shape_of(view.sizes, static_cast<std::size_t>(view.dims));
}

bool is_float32(const View& view) { return view.dtype == aoti_torch_dtype_float32(); }
bool is_on_cuda(const View& view) { return view.device_type == aoti_torch_device_type_cuda(); }

void check_floats(const char* op, const Named& first, std::initializer_list<Named> others) {
  const auto check = [&](const Named& each) {
    const std::string name = each.name;
    if (!is_on_cuda(each.view)) {
      refuse(op, name + " is on " + device_of(each.view) + ", not on a CUDA device");
    }
    if (each.view.device != first.view.device) {
      refuse(op, name + " is on " + device_of(each.view) + ", but " + first.name + " on " +
                     device_of(first.view));
    }
    if (!each.view.strided) refuse(op, name + " is sparse; only strided tensors are taken");
    if (!is_float32(each.view)) {
      refuse(op, name + " is not float32; on CUDA devices warpladder computes in float32 alone");
    }
  };
  check(first);
  for (const Named& each : others) check(each);
}

void check_dims(const char* op, const Named& named, std::int64_t dims) {
  if (named.view.dims == dims) return;
  refuse(op, std::string(named.name) + " has the shape " + shape_of(named.view) + "; it needs " +
                 std::to_string(dims) + " dimensions");
}

Tensor dense(const Tensor& tensor) {
  if (tensor.is_contiguous()) return tensor;
  copies.fetch_add(1, std::memory_order_relaxed);
  return torch::stable::contiguous(tensor);
}

Tensor in_32_bits(const Tensor& integers) {
  const Tensor given = dense(integers);
  if (View(given).dtype == aoti_torch_dtype_int32()) return given;
  copies.fetch_add(1, std::memory_order_relaxed);
  return torch::stable::to(given, torch::headeronly::ScalarType::Int);
}

Tensor restrided(const Tensor& tensor, std::initializer_list<std::int64_t> sizes,
                 std::initializer_list<std::int64_t> strides) {
  std::int64_t offset = 0;
  TORCH_ERROR_CODE_CHECK(aoti_torch_get_storage_offset(tensor.get(), &offset));
  AtenTensorHandle made = nullptr;
  TORCH_ERROR_CODE_CHECK(
      aoti_torch__reinterpret_tensor(tensor.get(), static_cast<std::int64_t>(sizes.size()),
                                     sizes.begin(), strides.begin(), offset, &made));
  return Tensor(made);
}

Tensor transposed(const Tensor& matrix, const View& view) {
  return restrided(matrix, {view.size(1), view.size(0)}, {view.stride(1), view.stride(0)});
}

std::int64_t copies_made() { return copies.load(std::memory_order_relaxed); }

Operand matrix_of(const Tensor& tensor, const View& view) {
  const std::int64_t d = view.dims - 2, rows = view.size(d), columns = view.size(d + 1);
  const std::int64_t batch = d > 0 ? view.size(0) : 1,
                     batch_stride = batch > 1 ? view.stride(0) : 0;
  const auto data = [](const Tensor& t) { return static_cast<const float*>(t.const_data_ptr()); };
  if (const auto ld = leading_dimension(rows, columns, view.stride(d), view.stride(d + 1))) {
    return {tensor, data(tensor), ld, WARPLADDER_OP_N, batch_stride};
  }
  if (const auto ld = leading_dimension(columns, rows, view.stride(d + 1), view.stride(d))) {
    return {tensor, data(tensor), ld, WARPLADDER_OP_T, batch_stride};
  }
  const std::int64_t ld = std::max<std::int64_t>(columns, 1);
  if (batch > 1 && batch_stride == 0) {  // one matrix for all products stays one
    Tensor whole = tensor;
    const Tensor one = dense(torch::stable::narrow(whole, 0, 0, 1));
    return {one, data(one), ld, WARPLADDER_OP_N, 0};
  }
  const Tensor copy = dense(tensor);
  return {copy, data(copy), ld, WARPLADDER_OP_N, batch > 1 ? rows * columns : 0};
}

Vector vector_of(const Tensor& tensor, const View& view) {
  const auto data = [](const Tensor& t) { return static_cast<const float*>(t.const_data_ptr()); };
  if (view.size(0) <= 1) return {tensor, data(tensor), 1};
  if (view.stride(0) > 0) return {tensor, data(tensor), view.stride(0)};
  const Tensor copy = dense(tensor);
  return {copy, data(copy), 1};
}

Tensor new_tensor(const View& like, const std::vector<std::int64_t>& shape, bool integers) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * std::max<std::int64_t>(shape[d], 1);
  }
  AtenTensorHandle made = nullptr;
  const AOTITorchError error = aoti_torch_empty_strided(
      static_cast<std::int64_t>(shape.size()), shape.data(), strides.data(),
      integers ? aoti_torch_dtype_int64() : like.dtype, like.device_type, like.device, &made);
  if (error != TORCH_SUCCESS) {
    refuse("PyTorch", "no memory for a result of shape " + shape_of(shape.data(), shape.size()));
  }
  return Tensor(made);
}

}  // namespace warpladder::torch_binding
