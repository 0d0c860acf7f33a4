// C = alpha · op(A) · op(B) + beta · C: single products, batches, and products with a prepared B.

#include "library/sgemm.hpp"

#include <algorithm>
#include <new>

#include "library/operands.hpp"
#include "library/sgemv.hpp"

namespace warpladder::library {
namespace {

using runtime::refuse_argument;
using sgemm::Arithmetic;
using sgemm::Problem;

Status check_op(const char* name, const char* argument, warpladder_op op) {
  if (op == WARPLADDER_OP_N || op == WARPLADDER_OP_T) return {};
  return refuse_argument("%s: %s is %d, neither WARPLADDER_OP_N nor WARPLADDER_OP_T", name,
                         argument, static_cast<int>(op));
}
Status check_layout(const char* name, warpladder_layout layout) {
  if (layout == WARPLADDER_ROW_MAJOR || layout == WARPLADDER_COLUMN_MAJOR) return {};
  return refuse_argument(
      "%s: layout is %d, neither WARPLADDER_ROW_MAJOR nor "
      "WARPLADDER_COLUMN_MAJOR",
      name, static_cast<int>(layout));
}

bool reads_operands(const Problem& p) { return p.alpha != 0.0f && p.k > 0; }

Region region_of(const Problem& p, const void* data, sgemm::StoredShape shape, std::int64_t ld,
                 std::int64_t batch, std::int64_t stride) {
  const bool by_rows = p.layout == sgemm::Layout::row_major;
  return {
      data,  by_rows ? shape.rows : shape.columns, by_rows ? shape.columns : shape.rows, ld, batch,
      stride};
}

Status check_strides(const char* name, const sgemm::Batch& batch,
                     const Problem::Footprint& footprint) {
  const struct {
    const char* argument;
    std::int64_t stride, elements;
  } strides[] = {{"stride_a", batch.stride_a, footprint.a_elements},
                 {"stride_b", batch.stride_b, footprint.b_elements},
                 {"stride_c", batch.stride_c, footprint.c_elements}};
  for (const auto& [argument, stride, elements] : strides) {
    std::int64_t all = 0;
    if (stride < 0) {
      return refuse_argument("%s: %s must not be negative, it is %lld", name, argument,
                             runtime::number(stride));
    }
    if (batch.count > 1 && elements > 0 &&
        !runtime::extent_of(batch.count, elements, stride, &all)) {
      return refuse_argument("%s: %lld matrices with %s = %lld are too large to address", name,
                             runtime::number(batch.count), argument, runtime::number(stride));
    }
  }
  return {};
}

Status check_operands(const char* name, const sgemm::Call& call,
                      const Problem::Footprint& footprint) {
  const Problem& p = call.problem;
  const sgemm::Batch& batch = call.batch;
  const std::int64_t used = batch.count > 0 ? 1 : 0;
  const std::int64_t read = p.m > 0 && p.n > 0 && reads_operands(p) ? used : 0;
  const struct {
    const char* argument;
    const void* data;
    std::int64_t elements;
  } pointers[] = {{"a", call.a, read * footprint.a_elements},
                  {"b", call.b, read * footprint.b_elements},
                  {"c", call.c, used * footprint.c_elements}};
  for (const auto& [argument, data, elements] : pointers) {
    if (Status s = check_pointer(name, argument, data, elements, sizeof(float)); !s.ok()) return s;
  }
  const Region c = region_of(p, call.c, stored_c(p), p.ldc, batch.count, batch.stride_c);
  if (overlaps_itself(c)) {
    return refuse_argument("%s: matrices of c overlap with stride_c = %lld", name,
                           runtime::number(batch.stride_c));
  }
  if (read == 0) return {};
  const Region a = region_of(p, call.a, stored_a(p), p.lda, batch.stride_a ? batch.count : 1,
                             batch.stride_a),
               b = region_of(p, call.b, stored_b(p), p.ldb, batch.stride_b ? batch.count : 1,
                             batch.stride_b);
  if (Status s = check_apart(name, "c", c, "a", a); !s.ok()) return s;
  return check_apart(name, "c", c, "b", b);
}

}  // namespace

Status check(const GivenProduct& given) {
  const sgemm::Call& call = given.call;
  if (Status s = check_layout(given.name, given.layout); !s.ok()) return s;
  if (Status s = check_op(given.name, "op_a", given.op_a); !s.ok()) return s;
  if (Status s = check_op(given.name, "op_b", given.op_b); !s.ok()) return s;
  Problem::Footprint footprint{};
  if (Status s = sgemm::check(call.problem, &footprint); !s.ok()) return s;
  if (call.batch.count < 0) {
    return refuse_argument("%s: batch must not be negative, it is %lld", given.name,
                           runtime::number(call.batch.count));
  }
  if (!call.batch.arrays) {
    if (Status s = check_strides(given.name, call.batch, footprint); !s.ok()) return s;
    return check_operands(given.name, call, footprint);
  }
  const std::int64_t c_pointers = footprint.c_elements > 0 ? call.batch.count : 0,
                     read_pointers = reads_operands(call.problem) ? c_pointers : 0;
  const struct {
    const char* argument;
    const void* data;
    std::int64_t count;
  } arrays[] = {{"a", call.batch.a, read_pointers},
                {"b", call.batch.b, read_pointers},
                {"c", call.batch.c, c_pointers}};
  for (const auto& [argument, data, count] : arrays) {
    if (Status s = check_pointer(given.name, argument, data, count, sizeof(void*)); !s.ok()) {
      return s;
    }
  }
  return {};
}

Problem problem_of(warpladder_layout layout, warpladder_op op_a, warpladder_op op_b, int64_t m,
                   int64_t n, int64_t k, float alpha, int64_t lda, int64_t ldb, float beta,
                   int64_t ldc) {
  return {
      m,
      n,
      k,
      layout == WARPLADDER_COLUMN_MAJOR ? sgemm::Layout::column_major : sgemm::Layout::row_major,
      op_a == WARPLADDER_OP_T,
      op_b == WARPLADDER_OP_T,
      alpha,
      beta,
      lda,
      ldb,
      ldc};
}

Arithmetic arithmetic_of(const Context& context) {
  return static_cast<Arithmetic>(context.arithmetic.load(std::memory_order_relaxed));
}

namespace {

static_assert(static_cast<int>(Arithmetic::accurate) == WARPLADDER_ARITHMETIC_ACCURATE);
static_assert(static_cast<int>(Arithmetic::cuda_cores) == WARPLADDER_ARITHMETIC_CUDA_CORES);
static_assert(static_cast<int>(Arithmetic::double_rounded) == WARPLADDER_ARITHMETIC_DOUBLE_ROUNDED);

// Whether C is one row or one column, and therefore a product of a matrix and a vector. Not where
// sums are to be rounded once, and not where A and B are not read: sgemv asks for no terms
// otherwise.
bool is_vector(const Problem& p, const sgemm::Batch& batch, Arithmetic arithmetic) {
  return (p.m == 1 || p.n == 1) && reads_operands(p) && batch.count == 1 && !batch.arrays &&
         arithmetic != Arithmetic::double_rounded;
}

// That product. A vector's elements lie beside each other, or a leading dimension apart.
sgemv::Call as_vector(const sgemm::Call& given) {
  const sgemm::Call call = in_layout(given, sgemm::Layout::row_major);
  const Problem& p = call.problem;
  if (p.n == 1) {
    return {{p.trans_a ? p.k : p.m, p.trans_a ? p.m : p.k, sgemv::Layout::row_major, p.trans_a,
             p.alpha, p.beta, p.lda, p.trans_b ? 1 : p.ldb, p.ldc},
            call.a,
            call.b,
            call.c};
  }
  return {{p.trans_b ? p.n : p.k, p.trans_b ? p.k : p.n, sgemv::Layout::row_major, !p.trans_b,
           p.alpha, p.beta, p.ldb, p.trans_a ? p.lda : 1, 1},
          call.b,
          call.a,
          call.c};
}

// A batch whose products share B is one product, where the matrices A, and C, lie as one: below
// each other in row-major storage. In column-major storage that is so of a shared A, and of B and
// C.
void fold_shared(sgemm::Call& call) {
  Problem& p = call.problem;
  sgemm::Batch& batch = call.batch;
  if (batch.count < 2 || batch.arrays) return;
  const bool rows = p.layout == sgemm::Layout::row_major;
  const std::int64_t stride = rows ? batch.stride_a : batch.stride_b,
                     shared = rows ? batch.stride_b : batch.stride_a, lines = rows ? p.m : p.n,
                     ld = rows ? p.lda : p.ldb;
  const bool turned = rows ? p.trans_a : p.trans_b;
  if (shared != 0 || turned || stride != lines * ld || batch.stride_c != lines * p.ldc) return;
  (rows ? p.m : p.n) = lines * batch.count;
  batch = {};
}

// The rung cannot add what lies elsewhere than C: it is added behind the product.
Status multiply_and_add(Session& session, const sgemm::Call& call) {
  sgemm::Call product = call;
  product.source = nullptr;
  product.problem.beta = 0.0f;
  if (Status s = multiply(session, product); !s.ok()) return s;
  return with_memory(session, 0, 0, [&](runtime::StreamView& view, const Memory&) {
    sgemm::WARPLADDER_LIBRARY_FLAVOUR::add_source(call, view);
  });
}

}  // namespace

Status multiply(Session& session, sgemm::Call call) {
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0 || call.batch.count == 0) return {};
  fold_shared(call);
  const bool vector = is_vector(p, call.batch, arithmetic_of(session.context));
  if (vector && !call.source) return multiply_vector(session, as_vector(call));
  const sgemm::Plan plan = plan_of(session.context, p, call.batch, call.prepared_b != nullptr);
  if (call.source && (vector || !plan.rung->takes_source)) return multiply_and_add(session, call);
  return with_memory(session, plan.workspace_bytes, plan.flag_words,
                     [&](runtime::StreamView& view, const Memory& memory) {
                       call.workspace = memory.scratch;
                       plan.rung->launch(call, view);
                     });
}

namespace {

warpladder_status run(warpladder_handle handle, warpladder_stream stream,
                      const GivenProduct& given) {
  return call(
      handle, stream, [&](const Context&) { return check(given); },
      [&](Session& session) { return multiply(session, given.call); });
}

}  // namespace
}  // namespace warpladder::library

using namespace warpladder;
using namespace warpladder::library;

// What warpladder_sgemm_prepare() makes, in one allocation. It holds the device's copy of op(B),
// compact in the layout's order, and behind it what a rung has prepared of it. Only products read
// it.
struct warpladder_prepared_matrix {
  Context* context;
  warpladder_layout layout;
  warpladder_op op_b;
  std::int64_t n, k, ldb;
  float* b;
  void* pairs;  // null: nothing but the copy
};

warpladder_status warpladder_sgemm(warpladder_handle handle, warpladder_layout layout,
                                   warpladder_op op_a, warpladder_op op_b, int64_t m, int64_t n,
                                   int64_t k, float alpha, const float* a, int64_t lda,
                                   const float* b, int64_t ldb, float beta, float* c, int64_t ldc,
                                   warpladder_stream stream) {
  const Problem p = problem_of(layout, op_a, op_b, m, n, k, alpha, lda, ldb, beta, ldc);
  return run(handle, stream, {"sgemm", layout, op_a, op_b, {p, a, b, c}});
}

namespace warpladder::library {
namespace {

struct Source {
  const float* data;
  std::int64_t ld;
};

// Lets beta multiply S instead of C, and checks S. Of a call that has been checked.
Status add(GivenProduct& given, const Source& source) {
  const auto [s, lds] = source;
  sgemm::Call& call = given.call;
  const Problem& p = call.problem;
  const Region c = region_of(p, call.c, stored_c(p), p.ldc, 1, 0);
  if (lds != 0 && lds < c.length) {
    return refuse_argument("%s: lds = %lld is less than the %lld elements of a line of s",
                           given.name, runtime::number(lds), runtime::number(c.length));
  }
  const bool one_line = lds == 0, is_read = p.beta != 0.0f && c.lines > 0 && c.length > 0;
  std::int64_t elements = 0;
  if (!runtime::extent_of(one_line ? 1 : c.lines, c.length, lds, &elements)) {
    return refuse_argument("%s: s with lds = %lld is too large to address", given.name,
                           runtime::number(lds));
  }
  if (Status status = check_pointer(given.name, "s", s, is_read ? elements : 0, sizeof(float));
      !status.ok()) {
    return status;
  }
  if (!is_read || (s == call.c && (lds == p.ldc || c.lines == 1))) return {};
  call.source = s;
  call.ld_source = lds;
  return check_apart(given.name, "c", c, "s", {s, one_line ? 1 : c.lines, c.length, lds});
}

}  // namespace
}  // namespace warpladder::library

warpladder_status warpladder_sgemm_add(warpladder_handle handle, warpladder_layout layout,
                                       warpladder_op op_a, warpladder_op op_b, int64_t m, int64_t n,
                                       int64_t k, float alpha, const float* a, int64_t lda,
                                       const float* b, int64_t ldb, float beta, const float* s,
                                       int64_t lds, float* c, int64_t ldc,
                                       warpladder_stream stream) {
  GivenProduct given{
      "sgemm_add",
      layout,
      op_a,
      op_b,
      {problem_of(layout, op_a, op_b, m, n, k, alpha, lda, ldb, beta, ldc), a, b, c}};
  const auto check_all = [&](const Context&) -> Status {
    if (Status status = check(given); !status.ok()) return status;
    return add(given, {s, lds});
  };
  return call(handle, stream, check_all,
              [&](Session& session) { return multiply(session, given.call); });
}

warpladder_status warpladder_sgemm_strided_batched(
    warpladder_handle handle, warpladder_layout layout, warpladder_op op_a, warpladder_op op_b,
    int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, int64_t stride_a,
    const float* b, int64_t ldb, int64_t stride_b, float beta, float* c, int64_t ldc,
    int64_t stride_c, int64_t batch, warpladder_stream stream) {
  GivenProduct given{
      "sgemm_strided_batched",
      layout,
      op_a,
      op_b,
      {problem_of(layout, op_a, op_b, m, n, k, alpha, lda, ldb, beta, ldc), a, b, c}};
  given.call.batch.count = batch;
  given.call.batch.stride_a = stride_a;
  given.call.batch.stride_b = stride_b;
  given.call.batch.stride_c = stride_c;
  return run(handle, stream, given);
}

warpladder_status warpladder_sgemm_batched(warpladder_handle handle, warpladder_layout layout,
                                           warpladder_op op_a, warpladder_op op_b, int64_t m,
                                           int64_t n, int64_t k, float alpha, const float* const* a,
                                           int64_t lda, const float* const* b, int64_t ldb,
                                           float beta, float* const* c, int64_t ldc, int64_t batch,
                                           warpladder_stream stream) {
  GivenProduct given{"sgemm_batched",
                     layout,
                     op_a,
                     op_b,
                     {problem_of(layout, op_a, op_b, m, n, k, alpha, lda, ldb, beta, ldc)}};
  given.call.batch = {.count = batch, .arrays = true, .a = a, .b = b, .c = c};
  return run(handle, stream, given);
}

namespace warpladder::library {
namespace {

// The problem whose B is prepared; m does not matter.
Problem prepared_problem(warpladder_layout layout, warpladder_op op_b, std::int64_t n,
                         std::int64_t k, std::int64_t ldb) {
  Problem p = problem_of(layout, WARPLADDER_OP_N, op_b, 1, n, k, 1.0f, 1, ldb, 0.0f, 1);
  p.lda = least_ld(p, stored_a(p));
  p.ldc = least_ld(p, stored_c(p));
  return p;
}

Status prepare(Session& session, const warpladder_prepared_matrix& like, const float* b,
               std::int64_t ldb, warpladder_prepared* out) {
  if (session.capturing()) {
    return runtime::refuse(Code::capturing,
                           "sgemm_prepare: the stream is capturing, but memory is to outlive it");
  }
  Problem p = prepared_problem(like.layout, like.op_b, like.n, like.k, ldb);
  const Region lines = region_of(p, b, stored_b(p), ldb, 1, 0);
  const auto copy_bytes = sizeof(float) * static_cast<std::size_t>(lines.lines * lines.length);
  const sgemm::Plan plan = sgemm::WARPLADDER_LIBRARY_FLAVOUR::plan_preparation(
      p, session.context.machine, arithmetic_of(session.context));
  auto* const prepared = new (std::nothrow) warpladder_prepared_matrix(like);
  if (!prepared) return runtime::refuse(Code::out_of_memory, "the host has no memory left");
  prepared->ldb = lines.length > 1 ? lines.length : 1;
  const auto fail = [&](cudaError_t error, const char* what) {
    if (prepared->b) cudaFreeAsync(prepared->b, session.stream);
    delete prepared;
    return cuda_failure(error, what);
  };
  if (copy_bytes > 0) {
    void* memory = nullptr;
    if (const auto error =
            cudaMallocFromPoolAsync(&memory, round_up_to_256(copy_bytes) + plan.prepared_bytes,
                                    session.context.pool, session.stream)) {
      return fail(error, "cudaMallocFromPoolAsync for a prepared matrix");
    }
    prepared->b = static_cast<float*>(memory);
    const std::size_t line_bytes = sizeof(float) * static_cast<std::size_t>(lines.length);
    if (const auto error = cudaMemcpy2DAsync(
            prepared->b, line_bytes, b, sizeof(float) * static_cast<std::size_t>(ldb), line_bytes,
            static_cast<std::size_t>(lines.lines), cudaMemcpyDeviceToDevice, session.stream)) {
      return fail(error, "cudaMemcpy2DAsync of B");
    }
    if (plan.prepared_bytes > 0) {
      prepared->pairs = static_cast<unsigned char*>(memory) + round_up_to_256(copy_bytes);
      p.ldb = prepared->ldb;
      sgemm::Call call{p, nullptr, prepared->b};
      call.prepared_b = prepared->pairs;
      const Status launched = with_memory(
          session, 0, 0,
          [&](runtime::StreamView& view, const Memory&) { plan.rung->prepare(call, view); });
      if (!launched.ok()) {
        cudaFreeAsync(memory, session.stream);
        delete prepared;
        return launched;
      }
    }
  }
  *out = prepared;
  return {};
}

Status check_prepared(const char* name, const Context& context, warpladder_prepared b) {
  if (!b) return refuse_argument("%s: b is null", name);
  if (b->context != &context) {
    return refuse_argument("%s: b was prepared with another handle", name);
  }
  return {};
}

}  // namespace
}  // namespace warpladder::library

warpladder_status warpladder_sgemm_prepare(warpladder_handle handle, warpladder_layout layout,
                                           warpladder_op op_b, int64_t n, int64_t k, const float* b,
                                           int64_t ldb, warpladder_prepared* out,
                                           warpladder_stream stream) {
  const auto check_all = [&](const Context&) -> Status {
    constexpr const char* kName = "sgemm_prepare";
    if (!out) return refuse_argument("%s: out is null", kName);
    *out = nullptr;
    if (Status s = check_layout(kName, layout); !s.ok()) return s;
    if (Status s = check_op(kName, "op_b", op_b); !s.ok()) return s;
    Problem::Footprint footprint{};
    if (Status s = sgemm::check(prepared_problem(layout, op_b, n, k, ldb), &footprint); !s.ok()) {
      return s;
    }
    return check_pointer(kName, "b", b, footprint.b_elements, sizeof(float));
  };
  return call(handle, stream, check_all, [&](Session& session) {
    return prepare(session, {&session.context, layout, op_b, n, k, 0, nullptr, nullptr}, b, ldb,
                   out);
  });
}

namespace warpladder::library {
namespace {

// `source`: null where beta multiplies C.
warpladder_status run_prepared(const char* name, warpladder_handle handle, warpladder_op op_a,
                               std::int64_t m, float alpha, const float* a, std::int64_t lda,
                               warpladder_prepared b, float beta, const Source* source, float* c,
                               std::int64_t ldc, warpladder_stream stream) {
  GivenProduct given{name, WARPLADDER_ROW_MAJOR, op_a, WARPLADDER_OP_N, {}};
  const auto check_all = [&](const Context& context) -> Status {
    if (Status s = check_prepared(given.name, context, b); !s.ok()) return s;
    given.layout = b->layout;
    given.op_b = b->op_b;
    given.call = {
        problem_of(b->layout, op_a, b->op_b, m, b->n, b->k, alpha, lda, b->ldb, beta, ldc), a, b->b,
        c};
    given.call.prepared_b = b->pairs;
    if (Status s = check(given); !s.ok()) return s;
    return source ? add(given, *source) : Status{};
  };
  return call(handle, stream, check_all,
              [&](Session& session) { return multiply(session, given.call); });
}

}  // namespace
}  // namespace warpladder::library

warpladder_status warpladder_sgemm_prepared(warpladder_handle handle, warpladder_op op_a, int64_t m,
                                            float alpha, const float* a, int64_t lda,
                                            warpladder_prepared b, float beta, float* c,
                                            int64_t ldc, warpladder_stream stream) {
  return run_prepared("sgemm_prepared", handle, op_a, m, alpha, a, lda, b, beta, nullptr, c, ldc,
                      stream);
}

warpladder_status warpladder_sgemm_prepared_add(warpladder_handle handle, warpladder_op op_a,
                                                int64_t m, float alpha, const float* a, int64_t lda,
                                                warpladder_prepared b, float beta, const float* s,
                                                int64_t lds, float* c, int64_t ldc,
                                                warpladder_stream stream) {
  const Source source{s, lds};
  return run_prepared("sgemm_prepared_add", handle, op_a, m, alpha, a, lda, b, beta, &source, c,
                      ldc, stream);
}

warpladder_status warpladder_prepared_destroy(warpladder_handle handle, warpladder_prepared b,
                                              warpladder_stream stream) {
  if (!b) return WARPLADDER_SUCCESS;
  const auto check_all = [&](const Context& context) {
    return check_prepared("prepared_destroy", context, b);
  };
  return call(handle, stream, check_all, [&](Session& session) -> Status {
    if (b->b) {
      if (const auto error = cudaFreeAsync(b->b, session.stream)) {
        return cuda_failure(error, "cudaFreeAsync of a prepared matrix");
      }
    }
    delete b;
    return {};
  });
}

namespace warpladder::library {
namespace {

// Whatever the layout, the transposes, alpha and beta.
std::size_t most_workspace(const Context& context, std::int64_t m, std::int64_t n, std::int64_t k,
                           const sgemm::Batch& batch, bool prepared) {
  std::size_t most = 0;
  const auto consider = [&](const auto& plan) {
    most = std::max(most, workspace_bytes(plan.workspace_bytes, plan.flag_words));
  };
  for (const auto layout : {sgemm::Layout::row_major, sgemm::Layout::column_major}) {
    for (const bool trans_a : {false, true}) {
      for (const bool trans_b : {false, true}) {
        const Problem p = sgemm::compact(m, n, k, layout, trans_a, trans_b);
        consider(plan_of(context, p, batch, prepared));
        if (!is_vector(p, batch, arithmetic_of(context))) continue;
        consider(plan_of_vector(context, as_vector({p}).problem));  // where alpha is not 0
      }
    }
  }
  return most;
}

warpladder_status tell_workspace(warpladder_handle handle, const char* name, int64_t m, int64_t n,
                                 int64_t k, const sgemm::Batch& batch, size_t* bytes,
                                 bool prepared = false) {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return answer(found);
  if (!bytes) return answer(refuse_argument("%s: bytes is null", name));
  if (const Status s = sgemm::check(sgemm::compact(m, n, k)); !s.ok()) return answer(s);
  *bytes = most_workspace(*context, m, n, k, batch, prepared);
  if (batch.count < 2) return WARPLADDER_SUCCESS;
  // It may be folded into one product.
  for (const bool rows : {true, false}) {
    const std::int64_t lines = rows ? m : n;
    if (lines > INT64_MAX / batch.count) continue;
    const std::int64_t all_m = rows ? m * batch.count : m, all_n = rows ? n : n * batch.count;
    if (!sgemm::check(sgemm::compact(all_m, all_n, k)).ok()) continue;
    *bytes = std::max(*bytes, most_workspace(*context, all_m, all_n, k, {}, false));
  }
  return WARPLADDER_SUCCESS;
}

}  // namespace
}  // namespace warpladder::library

warpladder_status warpladder_sgemm_workspace_bytes(warpladder_handle handle, int64_t m, int64_t n,
                                                   int64_t k, size_t* bytes) {
  return tell_workspace(handle, "sgemm_workspace_bytes", m, n, k, {}, bytes);
}
warpladder_status warpladder_sgemm_batched_workspace_bytes(warpladder_handle handle, int64_t m,
                                                           int64_t n, int64_t k, int64_t batch,
                                                           size_t* bytes) {
  return tell_workspace(handle, "sgemm_batched_workspace_bytes", m, n, k, {.count = batch}, bytes);
}
warpladder_status warpladder_sgemm_prepared_workspace_bytes(warpladder_handle handle, int64_t m,
                                                            warpladder_prepared b, size_t* bytes) {
  if (!b) return answer(refuse_argument("sgemm_prepared_workspace_bytes: b is null"));
  return tell_workspace(handle, "sgemm_prepared_workspace_bytes", m, b->n, b->k, {}, bytes,
                        b->pairs != nullptr);
}
