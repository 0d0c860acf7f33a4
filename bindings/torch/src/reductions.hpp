#pragma once
// Transposes and reductions of FP32 tensors on a CUDA device. Each checks its arguments and throws.

#include "tensors.hpp"

namespace warpladder::torch_binding {

// The transpose of the last two dimensions, written out.
Tensor transpose(const Tensor& x);

// One value of the whole tensor, or of each line along `dim`.
Tensor reduce_all(const char* op, warpladder_reduction function, const Tensor& x);
Tensor reduce_dim(const char* op, warpladder_reduction function, const Tensor& x, std::int64_t dim,
                  bool keepdim);

}  // namespace warpladder::torch_binding
