// Linear layers: input · weightᵀ + bias, with a weight as it is or prepared once for many calls.

#include <map>
#include <mutex>

#include "gpu.hpp"
#include "products.hpp"

namespace warpladder::torch_binding {
namespace {

// The rows of a tensor as one matrix: all dimensions but the last become one.
struct Rows {
  std::int64_t count = 1, stride = 0;
  bool uniform = true;  // neighbouring rows are `stride` apart
};
Rows rows_of(const View& view) {
  Rows rows;
  for (std::int64_t d = view.dims - 2; d >= 0; --d) {
    if (view.size(d) != 1 && rows.count > 1 && view.stride(d) != rows.count * rows.stride) {
      rows.uniform = false;
    }
    if (view.size(d) != 1 && rows.count == 1) rows.stride = view.stride(d);
    rows.count *= view.size(d);
  }
  return rows;
}

// A layer's product, and its input and product as matrices.
struct Layer {
  Tensor out, rows, out_rows;
};
Layer layer_of(const char* op, const Tensor& input, std::int64_t inputs, std::int64_t outputs,
               const std::optional<Tensor>& bias) {
  const View given(input);
  check_floats(op, {"input", given});
  if (given.dims < 1 || given.size(given.dims - 1) != inputs) {
    refuse(op, "input of shape " + shape_of(given) + " and weight of shape [" +
                   std::to_string(outputs) + ", " + std::to_string(inputs) +
                   "] cannot be multiplied");
  }
  std::vector<std::int64_t> shape(given.sizes, given.sizes + given.dims);
  shape.back() = outputs;
  Tensor out = new_tensor(given, shape);
  if (bias) {
    const View view_b(*bias);
    check_floats(op, {"input", given}, {{"bias", view_b}});
    if (view_b.dims != 1 || view_b.size(0) != outputs) {
      refuse(op, "bias has the shape " + shape_of(view_b) + "; weight needs [" +
                     std::to_string(outputs) + "]");
    }
  }
  const Tensor usable = rows_of(given).uniform ? input : dense(input);
  const View view(usable);
  const Rows rows = rows_of(view);
  const Tensor flat =
      restrided(usable, {rows.count, inputs}, {rows.stride, view.stride(view.dims - 1)});
  const Tensor flat_out = restrided(out, {rows.count, outputs}, {outputs > 0 ? outputs : 1, 1});
  return {out, flat, flat_out};
}

struct Prepared {
  warpladder_prepared matrix;
  warpladder_handle handle;
  std::int32_t device;
  std::int64_t inputs, outputs;
};
std::mutex preparing;
std::map<std::int64_t, Prepared>& prepared_weights() {
  static auto* const weights = new std::map<std::int64_t, Prepared>;  // outlives the interpreter
  return *weights;
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  constexpr const char* kOp = "warpladder::linear";
  const View view_x(input), view_w(weight);
  check_floats(kOp, {"input", view_x}, {{"weight", view_w}});
  check_dims(kOp, {"weight", view_w}, 2);
  const Layer layer = layer_of(kOp, input, view_w.size(1), view_w.size(0), bias);
  const Addend added = bias ? addend_of(*bias, layer.out_rows) : Addend{};
  multiply_into(kOp, layer.out_rows, layer.rows, transposed(weight, view_w),
                added.data ? 1.0f : 0.0f, 1.0f, added);
  return bias && !added.data ? plus(layer.out, *bias, 1.0) : layer.out;
}

std::int64_t prepare(const Tensor& weight) {
  constexpr const char* kOp = "warpladder::_prepare";
  const View view(weight);
  check_floats(kOp, {"weight", view});
  check_dims(kOp, {"weight", view}, 2);
  const Gpu gpu(kOp, view);
  const Tensor turned = transposed(weight, view);
  const Operand b = matrix_of(turned, View(turned));
  Prepared made{nullptr, gpu.handle, view.device, view.size(1), view.size(0)};
  check(kOp, warpladder_sgemm_prepare(gpu.handle, WARPLADDER_ROW_MAJOR, b.op, made.outputs,
                                      made.inputs, b.data, b.ld, &made.matrix, gpu.stream));
  static std::int64_t last = 0;
  const std::lock_guard lock(preparing);
  prepared_weights()[++last] = made;
  return last;
}

Tensor linear_prepared(const Tensor& input, std::int64_t prepared, std::int64_t outputs,
                       const std::optional<Tensor>& bias) {
  constexpr const char* kOp = "warpladder::_linear_prepared";
  Prepared weight;
  {
    const std::lock_guard lock(preparing);
    const auto at = prepared_weights().find(prepared);
    if (at == prepared_weights().end() || at->second.outputs != outputs) {
      refuse(kOp, "no weight was prepared as number " + std::to_string(prepared));
    }
    weight = at->second;
  }
  const View view(input);
  check_floats(kOp, {"input", view});
  if (view.device != weight.device) {
    refuse(kOp, "input is on cuda:" + std::to_string(view.device) +
                    ", but the weight was prepared on cuda:" + std::to_string(weight.device));
  }
  const Layer layer = layer_of(kOp, input, weight.inputs, outputs, bias);
  const View rows(layer.rows);
  if (rows.size(0) == 0 || outputs == 0) return layer.out;
  const Gpu gpu(kOp, view);
  const Operand a = matrix_of(layer.rows, rows);
  const Addend added = bias ? addend_of(*bias, layer.out_rows) : Addend{};
  check(kOp, warpladder_sgemm_prepared_add(
                 gpu.handle, a.op, rows.size(0), 1.0f, a.data, a.ld, weight.matrix,
                 added.data ? 1.0f : 0.0f, added.data, added.ld,
                 static_cast<float*>(layer.out_rows.mutable_data_ptr()), outputs, gpu.stream));
  return bias && !added.data ? plus(layer.out, *bias, 1.0) : layer.out;
}

void release_prepared(std::int64_t prepared) noexcept {
  const std::lock_guard lock(preparing);
  const auto at = prepared_weights().find(prepared);
  if (at == prepared_weights().end()) return;
  const auto stream = current_stream(at->second.device);
  warpladder_prepared_destroy(at->second.handle, at->second.matrix, stream);
  prepared_weights().erase(at);
}

}  // namespace warpladder::torch_binding
