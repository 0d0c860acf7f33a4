// The functions of cublas.h, which know no handle. They run on the default stream unless the
// program has set a kernel stream. Which one a thread has set cannot be asked, so from then on
// calls are passed on.

#include <cublas.h>

#include <atomic>

#include "serve.hpp"

namespace warpladder::cublas {
namespace {

std::atomic<bool> has_kernel_stream{false};

cublasOperation_t operation(char letter) {
  switch (letter) {
    case 'n':
    case 'N':
      return CUBLAS_OP_N;
    case 't':
    case 'T':
      return CUBLAS_OP_T;
    case 'c':
    case 'C':
      return CUBLAS_OP_C;
    default:
      return static_cast<cublasOperation_t>(-1);
  }
}

// The old functions return nothing: cublasGetError() tells of cuBLAS's own failures.
template <class Pass>
void serve_old(Product& product, const void* caller, const Pass& call) {
  const Original* const cublas = original_for(Kind::blas, caller);
  if (!cublas) {
    not_loaded(product.function);
    return;
  }
  const auto pass = [&] {
    call(*cublas);
    return CUBLAS_STATUS_SUCCESS;
  };
  if (!is_to_be_looked_at(caller)) {
    pass();
    return;
  }
  const Inside inside;
  product.alpha_at = &product.alpha;
  product.beta_at = &product.beta;
  Outcome outcome = judge(product);
  if (outcome == Outcome::taken && has_kernel_stream.load(std::memory_order_relaxed)) {
    outcome = Outcome::kernel_stream;
  }
  if (outcome == Outcome::taken) {
    compute(product, pass);
    return;
  }
  note(product, outcome);
  pass();
}

}  // namespace
}  // namespace warpladder::cublas

using namespace warpladder::cublas;

extern "C" [[gnu::visibility("default")]] void cublasSgemm(char op_a, char op_b, int m, int n,
                                                           int k, float alpha, const float* a,
                                                           int lda, const float* b, int ldb,
                                                           float beta, float* c, int ldc) {
  Product p;
  p.function = Function::sgemm;
  p.op_a = operation(op_a);
  p.op_b = operation(op_b);
  p.m = m;
  p.n = n;
  p.k = k;
  p.alpha = alpha;
  p.beta = beta;
  p.a = {a, lda, 0, nullptr};
  p.b = {b, ldb, 0, nullptr};
  p.c = p.d = {c, ldc, 0, nullptr};
  serve_old(p, WARPLADDER_CALLER, [&](const Original& cublas) {
    cublas.call<void>(Symbol::cublasSgemm, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c,
                      ldc);
  });
}

extern "C" [[gnu::visibility("default")]] void cublasSgemv(char op, int m, int n, float alpha,
                                                           const float* a, int lda, const float* x,
                                                           int incx, float beta, float* y,
                                                           int incy) {
  Product p;
  p.function = Function::sgemv;
  p.op_a = operation(op);
  p.m = m;
  p.n = n;
  p.alpha = alpha;
  p.beta = beta;
  p.a = {a, lda, 0, nullptr};
  p.b = {x, 1, incx, nullptr};
  p.c = p.d = {y, 1, incy, nullptr};
  serve_old(p, WARPLADDER_CALLER, [&](const Original& cublas) {
    cublas.call<void>(Symbol::cublasSgemv, op, m, n, alpha, a, lda, x, incx, beta, y, incy);
  });
}

extern "C" [[gnu::visibility("default")]] cublasStatus cublasSetKernelStream(cudaStream_t stream) {
  if (stream) has_kernel_stream.store(true, std::memory_order_relaxed);
  find_originals();
  const Original* const cublas = original_for(Kind::blas, WARPLADDER_CALLER);
  if (!cublas) return not_loaded(Function::sgemm);
  return cublas->call<cublasStatus>(Symbol::cublasSetKernelStream, stream);
}
