#include "product.hpp"

#include "device.hpp"
#include "handles.hpp"
#include "knobs.hpp"

namespace warpladder::cublas {
namespace {

char letter(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_T ? 'T' : op == CUBLAS_OP_C ? 'C' : '?';
}
bool is_known(cublasOperation_t op) { return letter(op) != '?'; }
warpladder_op ours(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? WARPLADDER_OP_N : WARPLADDER_OP_T;
}

bool is_taken_by_rules(const Product& p) {
  const Knobs& knob = knobs();
  for (int i = 0; i < knob.rules; ++i) {
    const Rule& rule = knob.rule[i];
    if (!(rule.functions >> static_cast<int>(p.function) & 1)) continue;
    if (rule.m.holds(p.m) && rule.n.holds(p.n) && rule.k.holds(p.k) && rule.batch.holds(p.batch)) {
      return rule.take;
    }
  }
  return true;
}

// m·n·k·batch, at most INT64_MAX; 0 where a size is not positive.
std::int64_t multiply_adds(const Product& p) {
  std::int64_t product = 1;
  for (const std::int64_t size : {p.m, p.n, p.k, p.batch}) {
    if (size <= 0) return 0;
    if (__builtin_mul_overflow(product, size, &product)) product = INT64_MAX;
  }
  return product;
}

// What the library adds to the product as it stores it: a C that is not D, or a bias where nothing
// else follows. Its data is null where there is none.
Operand addend(const Product& p) {
  const bool single = !p.is_vector() && !p.has_pointers() && p.batch == 1;
  if (!single) return {};
  if (p.beta != 0.0f) return p.has_other_c() ? p.c : Operand{};
  const bool only_bias = p.layout == WARPLADDER_COLUMN_MAJOR && p.activation == Activation::none;
  return only_bias ? Operand{p.bias} : Operand{};
}

warpladder_status call(warpladder_handle handle, const Product& p) {
  const warpladder_op op_a = ours(p.op_a), op_b = ours(p.op_b);
  if (p.is_vector()) {
    return warpladder_sgemv(handle, p.layout, op_a, p.m, p.n, p.alpha, p.a.data, p.a.ld, p.b.data,
                            p.b.stride, p.beta, p.out(), p.d.stride, p.stream);
  }
  if (p.has_pointers()) {
    return warpladder_sgemm_batched(
        handle, p.layout, op_a, op_b, p.m, p.n, p.k, p.alpha, p.a.pointers, p.a.ld, p.b.pointers,
        p.b.ld, p.beta, const_cast<float* const*>(p.d.pointers), p.d.ld, p.batch, p.stream);
  }
  if (p.batch > 1) {
    return warpladder_sgemm_strided_batched(
        handle, p.layout, op_a, op_b, p.m, p.n, p.k, p.alpha, p.a.data, p.a.ld, p.a.stride,
        p.b.data, p.b.ld, p.b.stride, p.beta, p.out(), p.d.ld, p.d.stride, p.batch, p.stream);
  }
  if (const Operand s = addend(p); s.data) {
    return warpladder_sgemm_add(handle, p.layout, op_a, op_b, p.m, p.n, p.k, p.alpha, p.a.data,
                                p.a.ld, p.b.data, p.b.ld, p.beta != 0.0f ? p.beta : 1.0f, s.data,
                                s.ld, p.out(), p.d.ld, p.stream);
  }
  return warpladder_sgemm(handle, p.layout, op_a, op_b, p.m, p.n, p.k, p.alpha, p.a.data, p.a.ld,
                          p.b.data, p.b.ld, p.beta, p.out(), p.d.ld, p.stream);
}

bool copy_c(const Product& p) {
  if (p.beta == 0.0f || !p.has_other_c() || addend(p).data) return true;
  Copy copy;
  const bool by_rows = p.layout == WARPLADDER_ROW_MAJOR;
  copy.extent = {by_rows ? p.n : p.m, by_rows ? p.m : p.n, p.batch};
  copy.from = {p.c.data, 1, p.c.ld, p.c.stride, nullptr};
  copy.to = p.out();
  copy.column_stride = p.d.ld;
  copy.batch_stride = p.d.stride;
  return device::launch(copy, p.stream);
}

template <int kWidth>
bool finish(const Product& p) {
  Epilogue<kWidth> epilogue;
  epilogue.extent = {p.m / kWidth, p.n, p.batch};
  epilogue.activation = p.activation;
  epilogue.bias = p.bias;
  epilogue.bias_stride = p.bias_stride;
  epilogue.d = p.out();
  epilogue.ldd = p.d.ld;
  epilogue.stride_d = p.d.stride;
  return device::launch(epilogue, p.stream);
}

bool finish(const Product& p) {
  const bool is_added = p.beta == 0.0f && addend(p).data;  // the bias
  if ((!p.bias || is_added) && p.activation == Activation::none) return true;
  const auto at =
      reinterpret_cast<std::uintptr_t>(p.d.data) | reinterpret_cast<std::uintptr_t>(p.bias);
  const std::int64_t steps = p.m | p.d.ld | p.d.stride | p.bias_stride;
  return at % 16 == 0 && steps % 4 == 0 ? finish<4>(p) : finish<1>(p);
}

// A refused call has written nothing, but for one whose launch CUDA has refused.
Outcome refused(const Product& p, warpladder_status status) {
  const device::Capture capture = device::capture_of(p.stream);
  if (capture == device::Capture::unknown) return Outcome::no_context;
  if (capture == device::Capture::active && status == WARPLADDER_OUT_OF_MEMORY) {
    return Outcome::capture;
  }
  report_refusal(p.function, status, warpladder_status_string(status), warpladder_last_error());
  const bool c_is_lost = p.beta != 0.0f && !p.has_other_c();
  return status == WARPLADDER_CUDA_ERROR && c_is_lost ? Outcome::failed : Outcome::refused;
}

}  // namespace

Sizes Product::sizes() const { return {m, n, k, batch, letter(op_a), letter(op_b), has_sizes}; }

Outcome judge(Product& p) noexcept {
  if (knobs().precision == Precision::theirs) return Outcome::environment;
  if (!is_known(p.op_a) || !is_known(p.op_b)) return Outcome::operation;
  if (!p.alpha_at || !p.beta_at) return Outcome::arguments;
  const std::int64_t work = multiply_adds(p);
  const bool activated = p.activation != Activation::none;
  const std::int64_t least = activated ? knobs().least_activated : knobs().least_multiply_adds;
  if (work == 0 || work < least) return Outcome::too_small;
  return is_taken_by_rules(p) ? Outcome::taken : Outcome::rule;
}

Outcome ask(const Original& cublas, cublasHandle_t handle, Product& p) noexcept {
  const auto get = [&](Symbol symbol, auto* value) {
    return cublas.has(symbol) &&
           cublas.call<cublasStatus_t>(symbol, handle, value) == CUBLAS_STATUS_SUCCESS;
  };
  cublasMath_t math{};
  cublasPointerMode_t pointers{};
  int multiprocessors = 0;
  if (!handle || !get(Symbol::cublasGetMathMode, &math) ||
      !get(Symbol::cublasGetPointerMode_v2, &pointers)) {
    return Outcome::arguments;
  }
  // The flags above the mode concern types that are not taken.
  constexpr int kModes = 0x7;
  const int mode = static_cast<int>(math) & kModes;
  const bool forbidden = knobs().precision == Precision::never_tf32;
  if (mode == CUBLAS_TF32_TENSOR_OP_MATH && !forbidden) return Outcome::tf32;
  if (mode == CUBLAS_PEDANTIC_MATH) p.pedantic = true;
  if (mode != CUBLAS_DEFAULT_MATH && mode != CUBLAS_PEDANTIC_MATH &&
      mode != CUBLAS_TF32_TENSOR_OP_MATH) {
    return Outcome::math_mode;
  }
  if (pointers != CUBLAS_POINTER_MODE_HOST) return Outcome::device_scalars;
  // cuBLAS has this since 11.5.
  if (cublas.has(Symbol::cublasGetSmCountTarget) &&
      (!get(Symbol::cublasGetSmCountTarget, &multiprocessors) || multiprocessors != 0)) {
    return Outcome::sm_target;
  }
  return get(Symbol::cublasGetStream_v2, &p.stream) ? Outcome::taken : Outcome::arguments;
}

Outcome multiply(const Product& p) noexcept {
  const warpladder_handle handle = handle_for(p.pedantic, p.stream);
  if (!handle) {
    const bool captured = device::capture_of(p.stream) == device::Capture::active;
    return captured ? Outcome::capture : Outcome::no_context;
  }
  if (!copy_c(p)) return Outcome::refused;
  const warpladder_status status = call(handle, p);
  if (status != WARPLADDER_SUCCESS) return refused(p, status);
  if (finish(p)) return Outcome::taken;
  return p.beta != 0.0f && !p.has_other_c() ? Outcome::failed : Outcome::refused;
}

}  // namespace warpladder::cublas
