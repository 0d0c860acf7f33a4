// WARPLADDER_CUBLAS=verify: ours is computed into memory of its own, cuBLAS's where the caller
// wants it, and a kernel compares them.

#include "device.hpp"
#include "product.hpp"

namespace warpladder::cublas {
namespace {

// Device memory for the time of one call.
class Scratch {
 public:
  Scratch(std::int64_t bytes, cudaStream_t stream)
      : stream_(stream), data_(bytes > 0 ? device::allocate(size(bytes), stream) : nullptr) {}
  ~Scratch() { device::release(data_, stream_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  static std::size_t size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }
  cudaStream_t stream_;
  void* data_;
};

// The matrices of an operand as they are multiplied: op() applied, in either layout.
View view_of(const Product& p, const Operand& operand, cublasOperation_t op) {
  const bool lines_are_rows = (p.layout == WARPLADDER_ROW_MAJOR) != (op != CUBLAS_OP_N);
  return {operand.data, lines_are_rows ? operand.ld : 1, lines_are_rows ? 1 : operand.ld,
          operand.stride, operand.pointers};
}
// A vector as one column; with a negative increment it is walked from its far end.
View view_of_vector(const Operand& x, std::int64_t length) {
  const float* const first = x.stride < 0 ? x.data - (length - 1) * x.stride : x.data;
  return {first, x.stride, 0, 0, nullptr};
}

// The sizes of the result as a matrix, and the terms of each sum.
struct Shape {
  std::int64_t rows, columns, terms;
};
Shape shape_of(const Product& p) {
  if (!p.is_vector()) return {p.m, p.n, p.k};
  const bool turned = p.op_a != CUBLAS_OP_N;
  return {turned ? p.n : p.m, 1, turned ? p.m : p.n};
}

View result_view(const Product& p, const Operand& result, const Shape& shape) {
  return p.is_vector() ? view_of_vector(result, shape.rows) : view_of(p, result, CUBLAS_OP_N);
}

View transposed(View view) {
  const std::int64_t rows = view.row_stride;
  view.row_stride = view.column_stride;
  view.column_stride = rows;
  return view;
}

bool norms_into(double* norms, const View& of, std::int64_t rows, std::int64_t length,
                std::int64_t batch, cudaStream_t stream) {
  return device::launch(Norms{{rows, 1, batch}, of, length, norms}, stream);
}

// The product with its result in `memory`, without gaps; `pointers` where it has such arrays.
Product beside(const Product& p, const Shape& shape, float* memory, float** pointers) {
  Product q = p;
  const std::int64_t ld = p.layout == WARPLADDER_ROW_MAJOR ? shape.columns : shape.rows;
  q.d = {memory, ld, shape.rows * shape.columns, pointers};
  if (p.is_vector()) q.d.stride = 1;
  q.c = q.d;
  return q;
}

bool copy_into(const Product& q, const Shape& shape, const View& from) {
  Copy copy;
  copy.extent = {shape.rows, shape.columns, q.batch};
  copy.from = from;
  copy.to = q.out();
  copy.row_stride = q.layout == WARPLADDER_ROW_MAJOR ? shape.columns : 1;
  copy.column_stride = q.layout == WARPLADDER_ROW_MAJOR ? 1 : shape.rows;
  copy.batch_stride = shape.rows * shape.columns;
  return device::launch(copy, q.stream);
}

}  // namespace

cublasStatus_t verify(const Product& p, Theirs theirs, const void* call,
                      Outcome* outcome) noexcept {
  *outcome = Outcome::capture;  // a comparison waits for the stream
  if (device::capture_of(p.stream) != device::Capture::none) return theirs(call);
  const Shape shape = shape_of(p);
  const std::int64_t elements = shape.rows * shape.columns * p.batch;
  const bool reads_c = p.beta != 0.0f;
  const Scratch mine(elements * 4, p.stream), before(reads_c ? elements * 4 : 0, p.stream);
  const Scratch pointers(p.has_pointers() ? p.batch * 8 : 0, p.stream);
  const Scratch norms((shape.rows + shape.columns) * p.batch * 8, p.stream);
  const Scratch verdict(sizeof(Verdict), p.stream);
  const bool has_memory = mine.as<float>() && norms.as<double>() && verdict.as<Verdict>() &&
                          (!reads_c || before.as<float>()) &&
                          (!p.has_pointers() || pointers.as<float*>());
  *outcome = Outcome::no_memory;
  if (!has_memory) return theirs(call);

  const Product q = beside(p, shape, mine.as<float>(), pointers.as<float*>());
  const View c = result_view(p, p.has_other_c() ? p.c : p.d, shape);
  Product kept = q;
  kept.d.data = before.as<float>();
  bool good = !p.has_pointers() ||
              device::launch(PointTo{{p.batch, 1, 1}, q.out(), q.d.stride, pointers.as<float*>()},
                             p.stream);
  good = good && (!reads_c || (copy_into(q, shape, c) && copy_into(kept, shape, c)));
  double* const norms_a = norms.as<double>();
  double* const norms_b = norms_a + shape.rows * p.batch;
  const View b = p.is_vector() ? view_of_vector(p.b, shape.terms) : view_of(p, p.b, p.op_b);
  good = good &&
         norms_into(norms_a, view_of(p, p.a, p.op_a), shape.rows, shape.terms, p.batch, p.stream) &&
         norms_into(norms_b, transposed(b), shape.columns, shape.terms, p.batch, p.stream) &&
         device::clear(verdict.as<void>(), sizeof(Verdict), p.stream);
  *outcome = good ? multiply(q) : Outcome::refused;
  const cublasStatus_t status = theirs(call);
  if (*outcome == Outcome::failed) *outcome = Outcome::refused;  // the caller's C is untouched
  if (*outcome != Outcome::taken || status != CUBLAS_STATUS_SUCCESS) return status;

  Operand gapless = q.d;
  gapless.pointers = nullptr;
  Compare compare;
  compare.extent = {shape.rows, shape.columns, p.batch};
  compare.ours = result_view(p, gapless, shape);
  compare.theirs = result_view(p, p.d, shape);
  if (reads_c) {
    gapless.data = before.as<float>();
    compare.before = result_view(p, gapless, shape);
  }
  if (p.bias) compare.bias = {p.bias, 1, 0, p.bias_stride, nullptr};
  const bool reads_operands = p.alpha != 0.0f;
  compare.norms_a = reads_operands ? norms_a : nullptr;
  compare.norms_b = norms_b;
  compare.alpha = p.alpha;
  compare.beta = p.beta;
  compare.k = shape.terms;
  compare.activation = p.activation;
  compare.verdict = verdict.as<Verdict>();
  Verdict read;
  if (device::launch(compare, p.stream) &&
      device::read(&read, compare.verdict, sizeof read, p.stream)) {
    note_verdict(p.function, p.sizes(), read);
  }
  return status;
}

}  // namespace warpladder::cublas
