// warpladder for C++17: owners for the C interface's objects, and exceptions for its statuses.
// Everything is inline; the functions and their conditions are those of warpladder.h.
#ifndef WARPLADDER_WARPLADDER_HPP
#define WARPLADDER_WARPLADDER_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "warpladder/warpladder.h"

namespace warpladder {

// A status other than WARPLADDER_SUCCESS, with the sentence of warpladder_last_error().
class StatusError : public std::runtime_error {
 public:
  explicit StatusError(warpladder_status status)
      : std::runtime_error(warpladder_last_error()), status_(status) {}
  warpladder_status status() const noexcept { return status_; }

 private:
  warpladder_status status_;
};

// Throws StatusError unless the status is WARPLADDER_SUCCESS.
inline void check(warpladder_status status) {
  if (status != WARPLADDER_SUCCESS) throw StatusError(status);
}

enum class Layout { row_major = WARPLADDER_ROW_MAJOR, column_major = WARPLADDER_COLUMN_MAJOR };
enum class Op { none = WARPLADDER_OP_N, transpose = WARPLADDER_OP_T };
enum class Arithmetic {
  accurate = WARPLADDER_ARITHMETIC_ACCURATE,
  cuda_cores = WARPLADDER_ARITHMETIC_CUDA_CORES,
  double_rounded = WARPLADDER_ARITHMETIC_DOUBLE_ROUNDED
};
enum class Reduction {
  sum = WARPLADDER_SUM,
  mean = WARPLADDER_MEAN,
  min = WARPLADDER_MIN,
  max = WARPLADDER_MAX,
  argmin = WARPLADDER_ARGMIN,
  argmax = WARPLADDER_ARGMAX
};
using Stream = warpladder_stream;  // a cudaStream_t; null: the default stream

// A matrix in device memory as its caller stores it. `op` says how a product reads it.
template <class Float>
struct MatrixView {
  Float* data = nullptr;
  std::int64_t ld = 0;
  Op op = Op::none;
};
using ConstMatrix = MatrixView<const float>;
using Matrix = MatrixView<float>;

// A handle for the device that is current when it is made. Movable; threads may share it.
class Handle {
 public:
  Handle() { check(warpladder_create(&handle_)); }
  ~Handle() { warpladder_destroy(handle_); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  warpladder_handle get() const noexcept { return handle_; }
  void set_arithmetic(Arithmetic arithmetic) {
    check(warpladder_set_arithmetic(handle_, static_cast<warpladder_arithmetic>(arithmetic)));
  }
  void set_workspace(Stream stream, void* workspace, std::size_t bytes) {
    check(warpladder_set_workspace(handle_, stream, workspace, bytes));
  }
  // Functions that take the pool's place for workspaces; null: the pool again.
  void set_allocator(const warpladder_allocator* allocator) {
    check(warpladder_set_allocator(handle_, allocator));
  }
  // The same for calls that are captured; null: they take workspaces as other calls do.
  void set_capture_allocator(const warpladder_allocator* allocator) {
    check(warpladder_set_capture_allocator(handle_, allocator));
  }
  // The caller promises that the handle's device is current in all later calls.
  void promise_current_device(bool promised) {
    check(warpladder_promise_current_device(handle_, promised));
  }

  // C[m×n] = alpha · op(A)[m×k] · op(B)[k×n] + beta · C.
  void sgemm(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
             ConstMatrix a, ConstMatrix b, float beta, Matrix c, Stream stream = nullptr) const {
    check(warpladder_sgemm(handle_, static_cast<warpladder_layout>(layout),
                           static_cast<warpladder_op>(a.op), static_cast<warpladder_op>(b.op), m, n,
                           k, alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld, stream));
  }
  // C[m×n] = alpha · op(A)[m×k] · op(B)[k×n] + beta · S. S with an ld of 0 is one line for all.
  void sgemm_add(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                 ConstMatrix a, ConstMatrix b, float beta, ConstMatrix s, Matrix c,
                 Stream stream = nullptr) const {
    check(warpladder_sgemm_add(handle_, static_cast<warpladder_layout>(layout),
                               static_cast<warpladder_op>(a.op), static_cast<warpladder_op>(b.op),
                               m, n, k, alpha, a.data, a.ld, b.data, b.ld, beta, s.data, s.ld,
                               c.data, c.ld, stream));
  }
  // Products of matrices that lie a stride apart.
  void sgemm_strided_batched(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k,
                             float alpha, ConstMatrix a, std::int64_t stride_a, ConstMatrix b,
                             std::int64_t stride_b, float beta, Matrix c, std::int64_t stride_c,
                             std::int64_t batch, Stream stream = nullptr) const {
    check(warpladder_sgemm_strided_batched(
        handle_, static_cast<warpladder_layout>(layout), static_cast<warpladder_op>(a.op),
        static_cast<warpladder_op>(b.op), m, n, k, alpha, a.data, a.ld, stride_a, b.data, b.ld,
        stride_b, beta, c.data, c.ld, stride_c, batch, stream));
  }
  // y = alpha · op(A) · x + beta · y, A stored m×n.
  void sgemv(Layout layout, std::int64_t m, std::int64_t n, float alpha, ConstMatrix a,
             const float* x, std::int64_t incx, float beta, float* y, std::int64_t incy,
             Stream stream = nullptr) const {
    check(warpladder_sgemv(handle_, static_cast<warpladder_layout>(layout),
                           static_cast<warpladder_op>(a.op), m, n, alpha, a.data, a.ld, x, incx,
                           beta, y, incy, stream));
  }
  // y = alpha · A · x + beta · y, A sparse.
  void spmv(const warpladder_csr& a, float alpha, const float* x, float beta, float* y,
            Stream stream = nullptr) const {
    check(warpladder_spmv(handle_, &a, alpha, x, beta, y, stream));
  }
  // out = inᵀ of one row-major rows×columns matrix.
  void transpose(std::int64_t rows, std::int64_t columns, const float* in, std::int64_t ld_in,
                 float* out, std::int64_t ld_out, Stream stream = nullptr) const {
    check(warpladder_transpose(handle_, rows, columns, in, ld_in, 0, out, ld_out, 0, 1, stream));
  }
  // *result: a float, or a std::int64_t of argmin and argmax, in device memory.
  void reduce(Reduction function, std::int64_t n, const float* x, void* result,
              Stream stream = nullptr) const {
    check(warpladder_reduce(handle_, static_cast<warpladder_reduction>(function), n, x, result,
                            stream));
  }
  // axis 1: a result for each row; axis 0: one for each column.
  void reduce_axis(Reduction function, int axis, std::int64_t rows, std::int64_t columns,
                   const float* x, std::int64_t ld, void* results, Stream stream = nullptr) const {
    check(warpladder_reduce_axis(handle_, static_cast<warpladder_reduction>(function), axis, rows,
                                 columns, x, ld, results, stream));
  }
  // c = a + b.
  void vector_add(std::int64_t n, const float* a, const float* b, float* c,
                  Stream stream = nullptr) const {
    check(warpladder_vector_add(handle_, n, a, b, c, stream));
  }
  std::size_t sgemm_workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t k) const {
    std::size_t bytes = 0;
    check(warpladder_sgemm_workspace_bytes(handle_, m, n, k, &bytes));
    return bytes;
  }

 private:
  warpladder_handle handle_ = nullptr;
};

// Floats in the memory of the handle's device. Must not outlive its handle.
class DeviceVector {
 public:
  DeviceVector(const Handle& handle, const std::vector<float>& values)
      : handle_(handle.get()), size_(values.size()) {
    void* memory = nullptr;
    check(warpladder_malloc(handle_, bytes(), &memory));
    data_ = static_cast<float*>(memory);
    check(warpladder_upload(handle_, data_, values.data(), bytes()));
  }
  ~DeviceVector() { warpladder_free(handle_, data_); }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;

  float* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  // Waits for the device.
  std::vector<float> download() const {
    std::vector<float> values(size_);
    check(warpladder_download(handle_, values.data(), data_, bytes()));
    return values;
  }

 private:
  std::size_t bytes() const noexcept { return size_ * sizeof(float); }
  warpladder_handle handle_;
  std::size_t size_;
  float* data_ = nullptr;
};

// op(B), prepared once for many products; it takes up to 16 bytes an element. It is freed in the
// order of the stream that made it: products on other streams must have ended. It must not outlive
// its handle.
class PreparedMatrix {
 public:
  PreparedMatrix(const Handle& handle, Layout layout, std::int64_t n, std::int64_t k, ConstMatrix b,
                 Stream stream = nullptr)
      : handle_(handle.get()), stream_(stream) {
    check(warpladder_sgemm_prepare(handle_, static_cast<warpladder_layout>(layout),
                                   static_cast<warpladder_op>(b.op), n, k, b.data, b.ld, &prepared_,
                                   stream));
  }
  ~PreparedMatrix() { warpladder_prepared_destroy(handle_, prepared_, stream_); }
  PreparedMatrix(const PreparedMatrix&) = delete;
  PreparedMatrix& operator=(const PreparedMatrix&) = delete;

  // C[m×n] = alpha · op(A)[m×k] · op(B) + beta · C.
  void multiply(std::int64_t m, float alpha, ConstMatrix a, float beta, Matrix c,
                Stream stream = nullptr) const {
    check(warpladder_sgemm_prepared(handle_, static_cast<warpladder_op>(a.op), m, alpha, a.data,
                                    a.ld, prepared_, beta, c.data, c.ld, stream));
  }
  // C[m×n] = alpha · op(A)[m×k] · op(B) + beta · S.
  void multiply_add(std::int64_t m, float alpha, ConstMatrix a, float beta, ConstMatrix s, Matrix c,
                    Stream stream = nullptr) const {
    check(warpladder_sgemm_prepared_add(handle_, static_cast<warpladder_op>(a.op), m, alpha, a.data,
                                        a.ld, prepared_, beta, s.data, s.ld, c.data, c.ld, stream));
  }

 private:
  warpladder_handle handle_;
  Stream stream_;
  warpladder_prepared prepared_ = nullptr;
};
// An element-wise epilogue, compiled from an expression of `x`. Must not outlive its handle.
class Epilogue {
 public:
  Epilogue(const Handle& handle, const std::string& expression) : handle_(handle.get()) {
    check(warpladder_epilogue_create(handle_, expression.c_str(), &epilogue_));
  }
  ~Epilogue() { warpladder_epilogue_destroy(handle_, epilogue_); }
  Epilogue(const Epilogue&) = delete;
  Epilogue& operator=(const Epilogue&) = delete;

  // C[m×n] = epilogue(alpha · op(A)[m×k] · op(B)[k×n] + beta · C).
  void sgemm(Layout layout, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
             ConstMatrix a, ConstMatrix b, float beta, Matrix c, Stream stream = nullptr) const {
    check(warpladder_sgemm_epilogue(handle_, static_cast<warpladder_layout>(layout),
                                    static_cast<warpladder_op>(a.op),
                                    static_cast<warpladder_op>(b.op), m, n, k, alpha, a.data, a.ld,
                                    b.data, b.ld, beta, c.data, c.ld, epilogue_, stream));
  }

 private:
  warpladder_handle handle_;
  warpladder_epilogue epilogue_ = nullptr;
};

// An associative and commutative function, compiled from an expression of `a` and `b`. Must not
// outlive its handle.
class BinaryOp {
 public:
  BinaryOp(const Handle& handle, const std::string& expression, float identity)
      : handle_(handle.get()) {
    check(warpladder_binary_op_create(handle_, expression.c_str(), identity, &op_));
  }
  ~BinaryOp() { warpladder_binary_op_destroy(handle_, op_); }
  BinaryOp(const BinaryOp&) = delete;
  BinaryOp& operator=(const BinaryOp&) = delete;

  // *result, in device memory: the n elements of x joined.
  void reduce(std::int64_t n, const float* x, float* result, Stream stream = nullptr) const {
    check(warpladder_reduce_with(handle_, op_, n, x, result, stream));
  }

 private:
  warpladder_handle handle_;
  warpladder_binary_op op_ = nullptr;
};

// What is known of a sparse matrix's pattern. It is freed in the order of the stream that made it,
// and must not outlive its handle.
class SpmvPlan {
 public:
  SpmvPlan(const Handle& handle, const warpladder_csr& a, Stream stream = nullptr)
      : handle_(handle.get()), stream_(stream) {
    check(warpladder_spmv_plan_create(handle_, &a, &plan_, stream));
  }
  ~SpmvPlan() { warpladder_spmv_plan_destroy(handle_, plan_, stream_); }
  SpmvPlan(const SpmvPlan&) = delete;
  SpmvPlan& operator=(const SpmvPlan&) = delete;

  // y = alpha · A · x + beta · y, A of the planned pattern.
  void multiply(const warpladder_csr& a, float alpha, const float* x, float beta, float* y,
                Stream stream = nullptr) const {
    check(warpladder_spmv_planned(handle_, plan_, &a, alpha, x, beta, y, stream));
  }

 private:
  warpladder_handle handle_;
  Stream stream_;
  warpladder_spmv_plan plan_ = nullptr;
};

}  // namespace warpladder

#endif  // WARPLADDER_WARPLADDER_HPP
