#pragma once
// Tensors as operators see them: refusals as exceptions, and what BLAS can say of a view.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "warpladder/warpladder.h"

namespace warpladder::torch_binding {

using torch::stable::Tensor;

// Becomes a RuntimeError in Python. The sentence begins with the operator's name.
[[noreturn]] void refuse(const char* op, const std::string& sentence);

// A tensor's shape and place, read once. Valid as long as the tensor.
struct View {
  explicit View(const Tensor& tensor);
  std::int64_t size(std::int64_t d) const { return sizes[d]; }
  std::int64_t stride(std::int64_t d) const { return strides[d]; }
  const std::int64_t* sizes;
  const std::int64_t* strides;
  std::int64_t dims;
  std::int32_t dtype, device_type, device;
  bool strided;  // neither sparse nor anything else without strides
};
std::string shape_of(const View& view);
std::string shape_of(const std::int64_t* sizes, std::size_t dims);

bool is_float32(const View& view);
bool is_on_cuda(const View& view);

// Refuses anything but strided FP32 tensors on the CUDA device of `first`.
struct Named {
  const char* name;
  const View& view;
};
void check_floats(const char* op, const Named& first, std::initializer_list<Named> others = {});
void check_dims(const char* op, const Named& named, std::int64_t dims);

// A matrix, or a batch of them `batch_stride` elements apart, as a row-major operand of BLAS. It is
// stored as it is under OP_N, as its transpose under OP_T.
struct Operand {
  Tensor owner;  // the tensor itself, or its copy
  const float* data;
  std::int64_t ld;
  warpladder_op op;
  std::int64_t batch_stride = 0;
};
// The last two dimensions of `tensor` as an operand. Copies only what BLAS cannot express.
Operand matrix_of(const Tensor& tensor, const View& view);

// A vector with an increment that BLAS accepts.
struct Vector {
  Tensor owner;
  const float* data;
  std::int64_t increment;
};
Vector vector_of(const Tensor& tensor, const View& view);

// A contiguous tensor with the same elements; a copy is counted.
Tensor dense(const Tensor& tensor);
// The same integers in 32 bits; a conversion is counted as a copy.
Tensor in_32_bits(const Tensor& integers);
// The transpose of a matrix, as a view.
Tensor transposed(const Tensor& matrix, const View& view);
// A view of the tensor's own memory with other sizes and strides.
Tensor restrided(const Tensor& tensor, std::initializer_list<std::int64_t> sizes,
                 std::initializer_list<std::int64_t> strides);
// Copies that operators have made of their inputs since the program began.
std::int64_t copies_made();

// An uninitialised contiguous tensor of this shape on the device of `like`.
Tensor new_tensor(const View& like, const std::vector<std::int64_t>& shape, bool integers = false);

}  // namespace warpladder::torch_binding
