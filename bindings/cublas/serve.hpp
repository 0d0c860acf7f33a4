#pragma once
// The way of every call: look whether it is to be served, compute it, or pass it on as it came.

#include "knobs.hpp"
#include "product.hpp"

namespace warpladder::cublas {

// Where the call came from; to be used in the exported function itself.
#define WARPLADDER_CALLER __builtin_return_address(0)

// How deep this thread is in cuBLAS, or in warpladder, on behalf of a call that came here: what
// they call in turn is theirs.
inline thread_local int depth [[gnu::tls_model("initial-exec")]] = 0;
class Inside {
 public:
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

inline bool is_to_be_looked_at(const void* caller) {
  return depth == 0 && !is_off() && !in_an_original(caller);
}

// Says that no cuBLAS is loaded, once.
cublasStatus_t not_loaded(Function function) noexcept;

// Computes the product or passes the call on. `pass` → cublasStatus_t calls the original.
template <class Pass>
cublasStatus_t compute(const Product& product, const Pass& pass) {
  Outcome outcome = Outcome::taken;
  if (knobs().verify) {
    const auto theirs = [](const void* call) { return (*static_cast<const Pass*>(call))(); };
    const cublasStatus_t status = verify(product, theirs, &pass, &outcome);
    note(product, outcome);
    return status;
  }
  outcome = multiply(product);
  note(product, outcome);
  if (outcome == Outcome::taken) return CUBLAS_STATUS_SUCCESS;
  return outcome == Outcome::failed ? CUBLAS_STATUS_EXECUTION_FAILED : pass();
}

// A call with a handle. `describe` (Product&) → Outcome fills in the product from the arguments;
// `pass` (const Original&) → cublasStatus_t calls the original.
template <class Describe, class Pass>
cublasStatus_t serve(Function function, const void* caller, cublasHandle_t handle,
                     const Describe& describe, const Pass& pass) {
  const Original* const cublas = original_for(Kind::blas, caller);
  if (!cublas) return not_loaded(function);
  if (!is_to_be_looked_at(caller)) return pass(*cublas);
  const Inside inside;
  Product product;
  product.function = function;
  Outcome outcome = describe(product);
  if (outcome == Outcome::taken) outcome = judge(product);
  if (outcome == Outcome::taken) outcome = ask(*cublas, handle, product);
  if (outcome != Outcome::taken) {
    note(product, outcome);
    return pass(*cublas);
  }
  product.alpha = *product.alpha_at;
  product.beta = *product.beta_at;
  return compute(product, [&] { return pass(*cublas); });
}

}  // namespace warpladder::cublas
