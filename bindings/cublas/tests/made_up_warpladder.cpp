// Replaces libwarpladder.so: the calls of its C interface that the drop-in makes, computed on
// the host, element by element in float64.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "made_up_gpu.hpp"
#include "warpladder/warpladder.h"

struct warpladder_context {
  int arithmetic = WARPLADDER_ARITHMETIC_ACCURATE;
  std::uint64_t context = 0;
  warpladder_allocator of_captures = {};
  bool promised = false;
};

namespace made_up {
namespace {

struct Tied {
  void* data;
  void (*release)(void*);
};
std::vector<Tied> tied;

}  // namespace

Gpu& gpu() {
  static Gpu the_gpu;
  return the_gpu;
}
void tie(void* data, void (*release)(void*)) {
  ++gpu().graphs_tied;
  tied.push_back({data, release});
}
void end_graphs() {
  for (const Tied& each : tied) each.release(each.data);
  tied.clear();
}

namespace {

warpladder_status enter(const char* name, warpladder_handle handle, warpladder_stream stream) {
  Gpu& g = gpu();
  if (!handle->promised || handle->context != g.context) std::abort();  // another context's
  g.last = name;
  g.last_arithmetic = handle->arithmetic;
  g.last_stream = stream;
  const auto status = static_cast<warpladder_status>(g.next_status);
  g.next_status = 0;
  if (status != WARPLADDER_SUCCESS) return status;
  if (!g.knows_streams) return WARPLADDER_CUDA_ERROR;
  if (stream && g.stream_context && g.stream_context != handle->context) {
    return WARPLADDER_WRONG_DEVICE;
  }
  g.last_workspace = nullptr;
  if (g.workspace_needed > 0 && stream && stream == g.captured) {
    const warpladder_allocator& from = handle->of_captures;
    g.last_workspace = from.allocate(from.state, g.workspace_needed, stream);
    if (!g.last_workspace) return WARPLADDER_OUT_OF_MEMORY;
    std::memset(g.last_workspace, 0xcd, g.workspace_needed);
    from.release(from.state, g.last_workspace, g.workspace_needed, stream);
  }
  ++g.products;
  return WARPLADDER_SUCCESS;
}

struct Matrix {
  const float* data;
  std::int64_t ld;
  bool lines_are_rows;
  double at(std::int64_t row, std::int64_t column) const {
    return data[lines_are_rows ? row * ld + column : row + column * ld];
  }
};

struct Call {
  warpladder_layout layout;
  warpladder_op op_a, op_b;
  std::int64_t m, n, k;
  float alpha;
  std::int64_t lda, ldb;
  float beta;
  std::int64_t ldc;
};
void multiply(const Call& p, const float* a, const float* b, float* c) {
  const bool rows = p.layout == WARPLADDER_ROW_MAJOR;
  const Matrix a_{a, p.lda, rows != (p.op_a == WARPLADDER_OP_T)};
  const Matrix b_{b, p.ldb, rows != (p.op_b == WARPLADDER_OP_T)};
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (std::int64_t t = 0; t < p.k; ++t) sum += a_.at(i, t) * b_.at(t, j);
      float& out = c[rows ? i * p.ldc + j : i + j * p.ldc];
      out = static_cast<float>(p.alpha * sum + (p.beta == 0 ? 0.0 : p.beta * double{out}));
    }
  }
  if (gpu().fault == Fault::none || p.m == 0 || p.n == 0) return;
  const std::int64_t end = rows ? (p.m - 1) * p.ldc + p.n - 1 : p.m - 1 + (p.n - 1) * p.ldc;
  c[gpu().fault == Fault::last ? end : 0] += gpu().fault_size;
}

}  // namespace
}  // namespace made_up

using namespace made_up;

extern "C" {

const char* warpladder_status_string(warpladder_status) { return "A_STATUS"; }
const char* warpladder_last_error(void) { return "a made-up reason"; }

warpladder_status warpladder_create(warpladder_handle* out) {
  if (gpu().create_status) return static_cast<warpladder_status>(gpu().create_status);
  ++gpu().handles;
  *out = new warpladder_context{.context = gpu().context};
  return WARPLADDER_SUCCESS;
}
warpladder_status warpladder_set_arithmetic(warpladder_handle handle, warpladder_arithmetic which) {
  handle->arithmetic = which;
  return WARPLADDER_SUCCESS;
}
warpladder_status warpladder_set_capture_allocator(warpladder_handle handle,
                                                   const warpladder_allocator* allocator) {
  handle->of_captures = *allocator;
  return WARPLADDER_SUCCESS;
}
warpladder_status warpladder_promise_current_device(warpladder_handle handle, int promised) {
  handle->promised = promised;
  return WARPLADDER_SUCCESS;
}

warpladder_status warpladder_sgemm(warpladder_handle handle, warpladder_layout layout,
                                   warpladder_op op_a, warpladder_op op_b, int64_t m, int64_t n,
                                   int64_t k, float alpha, const float* a, int64_t lda,
                                   const float* b, int64_t ldb, float beta, float* c, int64_t ldc,
                                   warpladder_stream stream) {
  const auto status = enter("sgemm", handle, stream);
  if (status) return status;
  multiply({layout, op_a, op_b, m, n, k, alpha, lda, ldb, beta, ldc}, a, b, c);
  return WARPLADDER_SUCCESS;
}
warpladder_status warpladder_sgemm_add(warpladder_handle handle, warpladder_layout layout,
                                       warpladder_op op_a, warpladder_op op_b, int64_t m, int64_t n,
                                       int64_t k, float alpha, const float* a, int64_t lda,
                                       const float* b, int64_t ldb, float beta, const float* s,
                                       int64_t lds, float* c, int64_t ldc,
                                       warpladder_stream stream) {
  const auto status = enter("sgemm_add", handle, stream);
  if (status) return status;
  const bool rows = layout == WARPLADDER_ROW_MAJOR;
  for (int64_t line = 0; line < (rows ? m : n); ++line) {
    std::copy_n(s + line * lds, rows ? n : m, c + line * ldc);
  }
  multiply({layout, op_a, op_b, m, n, k, alpha, lda, ldb, beta, ldc}, a, b, c);
  return WARPLADDER_SUCCESS;
}
warpladder_status warpladder_sgemm_strided_batched(
    warpladder_handle handle, warpladder_layout layout, warpladder_op op_a, warpladder_op op_b,
    int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, int64_t stride_a,
    const float* b, int64_t ldb, int64_t stride_b, float beta, float* c, int64_t ldc,
    int64_t stride_c, int64_t batch, warpladder_stream stream) {
  const auto status = enter("sgemm_strided_batched", handle, stream);
  if (status) return status;
  for (int64_t i = 0; i < batch; ++i) {
    multiply({layout, op_a, op_b, m, n, k, alpha, lda, ldb, beta, ldc}, a + i * stride_a,
             b + i * stride_b, c + i * stride_c);
  }
  return WARPLADDER_SUCCESS;
}
warpladder_status warpladder_sgemm_batched(warpladder_handle handle, warpladder_layout layout,
                                           warpladder_op op_a, warpladder_op op_b, int64_t m,
                                           int64_t n, int64_t k, float alpha, const float* const* a,
                                           int64_t lda, const float* const* b, int64_t ldb,
                                           float beta, float* const* c, int64_t ldc, int64_t batch,
                                           warpladder_stream stream) {
  const auto status = enter("sgemm_batched", handle, stream);
  if (status) return status;
  for (int64_t i = 0; i < batch; ++i) {
    multiply({layout, op_a, op_b, m, n, k, alpha, lda, ldb, beta, ldc}, a[i], b[i], c[i]);
  }
  return WARPLADDER_SUCCESS;
}
warpladder_status warpladder_sgemv(warpladder_handle handle, warpladder_layout layout,
                                   warpladder_op op_a, int64_t m, int64_t n, float alpha,
                                   const float* a, int64_t lda, const float* x, int64_t incx,
                                   float beta, float* y, int64_t incy, warpladder_stream stream) {
  const auto status = enter("sgemv", handle, stream);
  if (status) return status;
  const bool turned = op_a == WARPLADDER_OP_T;
  const Matrix a_{a, lda, (layout == WARPLADDER_ROW_MAJOR) != turned};
  const int64_t rows = turned ? n : m, terms = turned ? m : n;
  const float* const x0 = incx < 0 ? x - (terms - 1) * incx : x;
  float* const y0 = incy < 0 ? y - (rows - 1) * incy : y;
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (int64_t t = 0; t < terms; ++t) sum += a_.at(i, t) * double{x0[t * incx]};
    float& out = y0[i * incy];
    out = static_cast<float>(alpha * sum + (beta == 0 ? 0.0 : beta * double{out}));
  }
  if (gpu().fault == Fault::none) return WARPLADDER_SUCCESS;
  y0[gpu().fault == Fault::last ? (rows - 1) * incy : 0] += gpu().fault_size;
  return WARPLADDER_SUCCESS;
}

}  // extern "C"
