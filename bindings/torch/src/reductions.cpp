#include "reductions.hpp"

#include <algorithm>
#include <array>

#include "gpu.hpp"

namespace warpladder::torch_binding {
namespace {

const float* input_data(const Tensor& tensor) {
  return static_cast<const float*>(tensor.const_data_ptr());
}

bool is_place(warpladder_reduction function) {
  return function == WARPLADDER_ARGMIN || function == WARPLADDER_ARGMAX;
}
// Sums and means of nothing have a value; PyTorch has none for the others.
bool has_value_of_nothing(warpladder_reduction function) {
  return function == WARPLADDER_SUM || function == WARPLADDER_MEAN;
}

// Whether the elements fill one piece of memory, in any order of the dimensions.
bool fills_memory(const View& view, std::int64_t elements) {
  std::int64_t last = 0;
  for (std::int64_t d = 0; d < view.dims; ++d) {
    if (view.size(d) > 1 && view.stride(d) == 0) return false;
    last += (view.size(d) - 1) * view.stride(d);
  }
  return last + 1 == elements;
}

// A tensor as lines×length×inner elements, of which `length` are reduced.
struct Lines {
  std::int64_t outer = 1, outer_stride = 0, length = 1, stride = 1, inner = 1, inner_stride = 0;
  bool uniform = true;  // the outer, and the inner, dimensions are each one dimension
};

void collapse(const View& view, std::int64_t from, std::int64_t to, std::int64_t* count,
              std::int64_t* stride, bool* uniform) {
  for (std::int64_t d = to; d-- > from;) {
    if (view.size(d) == 1) continue;
    if (*count == 1) {
      *stride = view.stride(d);
    } else if (view.stride(d) != *count * *stride) {
      *uniform = false;
    }
    *count *= view.size(d);
  }
}

Lines lines_of(const View& view, std::int64_t dim) {
  Lines lines;
  lines.length = view.size(dim);
  lines.stride = view.stride(dim);
  collapse(view, 0, dim, &lines.outer, &lines.outer_stride, &lines.uniform);
  collapse(view, dim + 1, view.dims, &lines.inner, &lines.inner_stride, &lines.uniform);
  return lines;
}

// The call of the library that reduces such lines; `ld` is 0 where there is none.
struct AxisCall {
  int axis = 0;
  std::int64_t rows = 0, columns = 0, ld = 0;
};

// Lines `apart` apart, of `length` elements `stride` apart.
AxisCall axis_call(std::int64_t lines, std::int64_t apart, std::int64_t length,
                   std::int64_t stride) {
  if (length <= 1 || stride == 1) {
    const std::int64_t ld = lines <= 1 ? std::max<std::int64_t>(length, 1) : apart;
    if (ld >= std::max<std::int64_t>(length, 1)) return {1, lines, length, ld};
  }
  if (lines <= 1 || apart == 1) {
    const std::int64_t ld = length <= 1 ? std::max<std::int64_t>(lines, 1) : stride;
    if (ld >= std::max<std::int64_t>(lines, 1)) return {0, length, lines, ld};
  }
  return {};
}

AxisCall axis_call(const Lines& lines) {
  if (!lines.uniform || (lines.outer > 1 && lines.inner > 1)) return {};
  const bool outer = lines.inner == 1;
  return axis_call(outer ? lines.outer : lines.inner,
                   outer ? lines.outer_stride : lines.inner_stride, lines.length, lines.stride);
}

// A view whose last dimension is `dim`; the others keep their order.
Tensor with_last(const Tensor& x, std::int64_t dim) {
  std::array<StableIValue, 3> stack{torch::stable::detail::from(x),
                                    torch::stable::detail::from(dim),
                                    torch::stable::detail::from(std::int64_t{-1})};
  TORCH_ERROR_CODE_CHECK(
      torch_call_dispatcher("aten::movedim", "int", stack.data(), TORCH_ABI_VERSION));
  return torch::stable::detail::to<Tensor>(stack[0]);
}

}  // namespace

Tensor transpose(const Tensor& x) {
  constexpr const char* kOp = "warpladder::transpose";
  const View view(x);
  check_floats(kOp, {"x", view});
  if (view.dims != 2 && view.dims != 3) check_dims(kOp, {"x", view}, 2);
  std::vector<std::int64_t> shape(view.sizes, view.sizes + view.dims);
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  Tensor out = new_tensor(view, shape);
  const std::int64_t rows = view.size(view.dims - 2), columns = view.size(view.dims - 1),
                     batch = view.dims == 3 ? view.size(0) : 1;
  if (rows == 0 || columns == 0 || batch == 0) return out;
  const Operand in = matrix_of(x, view);
  // One matrix for all, or matrices between each other's rows, are no batch of the library's.
  const bool apart = batch == 1 || in.batch_stride >= (rows - 1) * in.ld + columns;
  if (in.op == WARPLADDER_OP_T || !apart) {  // OP_T: the transpose lies there already
    torch::stable::copy_(out, torch::stable::transpose(x, view.dims - 2, view.dims - 1));
    return out;
  }
  const Gpu gpu(kOp, view);
  check(kOp, warpladder_transpose(gpu.handle, rows, columns, in.data, in.ld, in.batch_stride,
                                  static_cast<float*>(out.mutable_data_ptr()), rows, rows * columns,
                                  batch, gpu.stream));
  return out;
}

Tensor reduce_all(const char* op, warpladder_reduction function, const Tensor& x) {
  const View given(x);
  check_floats(op, {"x", given});
  const std::int64_t elements = x.numel();
  if (elements == 0 && !has_value_of_nothing(function)) {
    refuse(op, "x of shape " + shape_of(given) + " has no elements");
  }
  const bool any_order = !is_place(function) && fills_memory(given, elements);
  const Tensor usable = any_order ? x : dense(x);
  const Tensor out = new_tensor(given, {}, is_place(function));
  const Gpu gpu(op, given);
  check(op, warpladder_reduce(gpu.handle, function, elements, input_data(usable),
                              out.mutable_data_ptr(), gpu.stream));
  return out;
}

Tensor reduce_dim(const char* op, warpladder_reduction function, const Tensor& x, std::int64_t dim,
                  bool keepdim) {
  const View given(x);
  check_floats(op, {"x", given});
  const std::int64_t least = std::max<std::int64_t>(given.dims, 1);
  if (dim < -least || dim >= least) {
    refuse(op, "dim is " + std::to_string(dim) + ", but x has the shape " + shape_of(given));
  }
  if (given.dims == 0) return reduce_all(op, function, x);
  if (dim < 0) dim += given.dims;
  if (given.size(dim) == 0 && !has_value_of_nothing(function)) {
    refuse(op,
           "x of shape " + shape_of(given) + " has no elements along dim " + std::to_string(dim));
  }
  std::vector<std::int64_t> shape(given.sizes, given.sizes + given.dims);
  if (keepdim) {
    shape[static_cast<std::size_t>(dim)] = 1;
  } else {
    shape.erase(shape.begin() + dim);
  }
  const Tensor out = new_tensor(given, shape, is_place(function));
  if (out.numel() == 0) return out;
  const Lines lines = lines_of(given, dim);
  AxisCall call = axis_call(lines);
  Tensor usable = x;
  if (call.ld == 0) {
    usable = dense(with_last(x, dim));
    const std::int64_t length = std::max<std::int64_t>(lines.length, 1);
    call = {1, out.numel(), lines.length, length};
  }
  const Gpu gpu(op, given);
  check(op,
        warpladder_reduce_axis(gpu.handle, function, call.axis, call.rows, call.columns,
                               input_data(usable), call.ld, out.mutable_data_ptr(), gpu.stream));
  return out;
}

}  // namespace warpladder::torch_binding
