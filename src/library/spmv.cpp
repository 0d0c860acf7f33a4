// y = alpha · A · x + beta · y, A in compressed rows, with or without a plan.

#include <new>

#include "library/call.hpp"
#include "library/operands.hpp"
#include "ops/spmv/pattern.hpp"
#include "ops/spmv/plan.hpp"

// What warpladder_spmv_plan_create() makes.
struct warpladder_spmv_pattern {
  warpladder::library::Context* context;
  warpladder_csr matrix;  // of which the values do not matter
  bool scattered, even;
  std::int64_t* data;
};

namespace warpladder::library {
namespace {

using runtime::refuse_argument;
using spmv::Problem;

Problem problem_of(const warpladder_csr& a, float alpha, float beta) {
  Problem p{a.rows, a.columns, a.nnz, a.offset_type == WARPLADDER_INDEX_64, alpha, beta};
  p.scattered = a.pattern == WARPLADDER_PATTERN_SCATTERED || a.pattern == WARPLADDER_PATTERN_RANDOM;
  p.even = a.pattern == WARPLADDER_PATTERN_RANDOM;
  if (a.longest_row > 0) p.longest_row = a.longest_row;
  return p;
}

Status check_matrix(const char* name, const warpladder_csr* a, bool reads_entries) {
  if (!a) return refuse_argument("%s: a is null", name);
  if (a->offset_type != WARPLADDER_INDEX_32 && a->offset_type != WARPLADDER_INDEX_64) {
    return refuse_argument(
        "%s: a->offset_type is %d, neither WARPLADDER_INDEX_32 nor "
        "WARPLADDER_INDEX_64",
        name, static_cast<int>(a->offset_type));
  }
  if (a->pattern < WARPLADDER_PATTERN_UNKNOWN || a->pattern > WARPLADDER_PATTERN_RANDOM) {
    return refuse_argument("%s: a->pattern is %d, which is none", name,
                           static_cast<int>(a->pattern));
  }
  if (Status s = spmv::check(problem_of(*a, 1.0f, 0.0f)); !s.ok()) return s;
  const std::int64_t entries = reads_entries ? a->nnz : 0;
  const struct {
    const char* argument;
    const void* data;
    std::int64_t elements;
    int bytes;
  } arrays[] = {{"a->row_offsets", a->row_offsets, entries > 0 ? a->rows + 1 : 0,
                 a->offset_type == WARPLADDER_INDEX_64 ? 8 : 4},
                {"a->column_indices", a->column_indices, entries, 4},
                {"a->values", a->values, entries, 4}};
  for (const auto& [argument, data, elements, bytes] : arrays) {
    if (Status s = check_pointer(name, argument, data, elements, bytes); !s.ok()) return s;
  }
  return {};
}

Status check_product(const char* name, const warpladder_csr* a, float alpha, const float* x,
                     float* y) {
  const bool reads = alpha != 0.0f;
  if (Status s = check_matrix(name, a, reads); !s.ok()) return s;
  const std::int64_t read = reads && a->nnz > 0 ? a->columns : 0;
  if (Status s = check_pointer(name, "x", x, read, 4); !s.ok()) return s;
  if (Status s = check_pointer(name, "y", y, a->rows, 4); !s.ok()) return s;
  const Region out = vector_of(y, a->rows);
  const std::int64_t entries = read > 0 ? a->nnz : 0,
                     offset_words = a->offset_type == WARPLADDER_INDEX_64 ? 2 : 1;
  const struct {
    const char* argument;
    const void* data;
    std::int64_t words;
  } inputs[] = {{"x", x, read},
                {"a->values", a->values, entries},
                {"a->column_indices", a->column_indices, entries},
                {"a->row_offsets", a->row_offsets, entries ? offset_words * (a->rows + 1) : 0}};
  for (const auto& [argument, data, words] : inputs) {
    if (Status s = check_apart(name, "y", out, argument, vector_of(data, words)); !s.ok()) return s;
  }
  return {};
}

spmv::Call call_of(const Problem& p, const warpladder_csr& a, const float* x, float* y) {
  return {p, a.row_offsets, a.column_indices, a.values, x, y};
}

spmv::Plan plan_of(const Context& context, const Problem& p, bool prepared) {
  return spmv::WARPLADDER_LIBRARY_FLAVOUR::plan(p, context.machine, prepared);
}

// Launches the plan's rung, or what it prepares.
Status launch(Session& session, const spmv::Plan& plan, spmv::Call product, bool prepares) {
  return with_memory(session, plan.workspace_bytes, plan.flag_words,
                     [&](runtime::StreamView& view, const Memory& memory) {
                       product.scratch = static_cast<std::int64_t*>(memory.scratch);
                       product.flags = memory.flags;
                       (prepares ? plan.rung->prepare : plan.rung->launch)(product, view);
                     });
}

// Columns of runs of neighbouring entries, evenly spread over the matrix, on the host.
Status sample_columns(Session& session, const warpladder_csr& a, spmv::PatternSample* sample) {
  const auto [runs, apart] = spmv::sampled_runs(a.nnz);
  if (runs == 0) return {};
  constexpr std::size_t kRunBytes = spmv::PatternSample::kRun * sizeof(std::int32_t);
  const std::size_t pitch = sizeof(std::int32_t) * static_cast<std::size_t>(apart);
  // Runs of a small matrix overlap, for which a 2-D copy has no pitch.
  const bool one_copy = runs > 1 && pitch >= kRunBytes;
  for (std::int64_t run = 0; run < (one_copy ? 1 : runs); ++run) {
    if (const auto error = cudaMemcpy2DAsync(
            sample->columns[run], kRunBytes, a.column_indices + run * apart,
            one_copy ? pitch : kRunBytes, kRunBytes, one_copy ? static_cast<std::size_t>(runs) : 1,
            cudaMemcpyDeviceToHost, session.stream)) {
      return cuda_failure(error, "cudaMemcpy2DAsync of column indices");
    }
  }
  if (const auto error = cudaStreamSynchronize(session.stream)) {
    return cuda_failure(error, "a kernel before spmv_plan_create");
  }
  sample->runs = runs;
  return {};
}

Status make_plan(Session& session, warpladder_spmv_pattern& pattern) {
  auto* const sample = new (std::nothrow) spmv::PatternSample;
  if (!sample) return runtime::refuse(Code::out_of_memory, "the host has no memory left");
  const Status sampled = sample_columns(session, pattern.matrix, sample);
  const double sectors = spmv::sectors_of_x(*sample);
  delete sample;
  if (!sampled.ok()) return sampled;
  pattern.scattered = spmv::is_scattered(sectors);
  pattern.even = spmv::is_even(sectors);
  Problem p = problem_of(pattern.matrix, 1.0f, 0.0f);
  p.scattered = pattern.scattered;
  p.even = pattern.even;
  const spmv::Plan plan = plan_of(session.context, p, true);
  if (plan.prepared_bytes == 0) return {};
  void* data = nullptr;
  if (const auto error = cudaMallocFromPoolAsync(&data, plan.prepared_bytes, session.context.pool,
                                                 session.stream)) {
    return cuda_failure(error, "cudaMallocFromPoolAsync for a plan");
  }
  pattern.data = static_cast<std::int64_t*>(data);
  spmv::Call product = call_of(p, pattern.matrix, nullptr, nullptr);
  product.plan = pattern.data;
  const Status prepared = launch(session, plan, product, true);
  if (!prepared.ok()) cudaFreeAsync(data, session.stream);
  return prepared;
}

Status check_plan(const char* name, const Context& context, warpladder_spmv_plan plan) {
  if (!plan) return refuse_argument("%s: plan is null", name);
  if (plan->context != &context) {
    return refuse_argument("%s: plan was made with another handle", name);
  }
  return {};
}

// Whether the matrix is the one that was planned, as far as the host can see.
Status check_planned(const warpladder_csr& planned, const warpladder_csr& given) {
  const struct {
    const char* name;
    std::int64_t planned, given;
  } sizes[] = {{"rows", planned.rows, given.rows},
               {"columns", planned.columns, given.columns},
               {"nnz", planned.nnz, given.nnz},
               {"offset_type", planned.offset_type, given.offset_type}};
  for (const auto& [name, was, is] : sizes) {
    if (was != is) {
      return refuse_argument("spmv_planned: a->%s is %lld, but the plan is for %lld", name,
                             runtime::number(is), runtime::number(was));
    }
  }
  return {};
}

}  // namespace
}  // namespace warpladder::library

using namespace warpladder;
using namespace warpladder::library;

warpladder_status warpladder_spmv(warpladder_handle handle, const warpladder_csr* a, float alpha,
                                  const float* x, float beta, float* y, warpladder_stream stream) {
  const auto check_all = [&](const Context&) -> Status {
    if (Status s = check_product("spmv", a, alpha, x, y); !s.ok()) return s;
    if (a->longest_row < 0) {
      return refuse_argument("spmv: a->longest_row must not be negative, it is %lld",
                             runtime::number(a->longest_row));
    }
    return {};
  };
  return call(handle, stream, check_all, [&](Session& session) -> Status {
    if (a->rows == 0) return {};
    const Problem p = problem_of(*a, alpha, beta);
    return launch(session, plan_of(session.context, p, false), call_of(p, *a, x, y), false);
  });
}

warpladder_status warpladder_spmv_plan_create(warpladder_handle handle, const warpladder_csr* a,
                                              warpladder_spmv_plan* out, warpladder_stream stream) {
  const auto check_all = [&](const Context&) -> Status {
    if (!out) return refuse_argument("spmv_plan_create: out is null");
    *out = nullptr;
    return check_matrix("spmv_plan_create", a, true);
  };
  return call(handle, stream, check_all, [&](Session& session) -> Status {
    if (session.capturing()) {
      return runtime::refuse(
          Code::capturing, "spmv_plan_create: the stream is capturing, but the call waits for it");
    }
    auto* const plan =
        new (std::nothrow) warpladder_spmv_pattern{&session.context, *a, false, false, nullptr};
    if (!plan) return runtime::refuse(Code::out_of_memory, "the host has no memory left");
    const Status made = a->nnz > 0 ? make_plan(session, *plan) : Status{};
    if (made.ok()) {
      *out = plan;
    } else {
      delete plan;
    }
    return made;
  });
}

warpladder_status warpladder_spmv_planned(warpladder_handle handle, warpladder_spmv_plan plan,
                                          const warpladder_csr* a, float alpha, const float* x,
                                          float beta, float* y, warpladder_stream stream) {
  const auto check_all = [&](const Context& context) -> Status {
    if (Status s = check_plan("spmv_planned", context, plan); !s.ok()) return s;
    if (Status s = check_product("spmv_planned", a, alpha, x, y); !s.ok()) return s;
    return check_planned(plan->matrix, *a);
  };
  return call(handle, stream, check_all, [&](Session& session) -> Status {
    if (a->rows == 0) return {};
    Problem p = problem_of(*a, alpha, beta);
    p.scattered = plan->scattered;
    p.even = plan->even;
    spmv::Call product = call_of(p, *a, x, y);
    product.plan = plan->data;
    return launch(session, plan_of(session.context, p, true), product, false);
  });
}

warpladder_status warpladder_spmv_plan_destroy(warpladder_handle handle, warpladder_spmv_plan plan,
                                               warpladder_stream stream) {
  if (!plan) return WARPLADDER_SUCCESS;
  const auto check_all = [&](const Context& context) {
    return check_plan("spmv_plan_destroy", context, plan);
  };
  return call(handle, stream, check_all, [&](Session& session) -> Status {
    if (plan->data) {
      if (const auto error = cudaFreeAsync(plan->data, session.stream)) {
        return cuda_failure(error, "cudaFreeAsync of a plan");
      }
    }
    delete plan;
    return {};
  });
}

warpladder_status warpladder_spmv_workspace_bytes(warpladder_handle handle, int64_t rows,
                                                  int64_t columns, int64_t nnz, size_t* bytes) {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return answer(found);
  if (!bytes) return answer(refuse_argument("spmv_workspace_bytes: bytes is null"));
  *bytes = 0;
  for (const bool scattered : {false, true}) {
    Problem p{rows, columns, nnz, true};
    p.scattered = p.even = scattered;
    if (const Status s = spmv::check(p); !s.ok()) return answer(s);
    for (const bool prepared : {false, true}) {
      const spmv::Plan plan = plan_of(*context, p, prepared);
      const std::size_t needed = workspace_bytes(plan.workspace_bytes, plan.flag_words);
      if (needed > *bytes) *bytes = needed;
    }
  }
  return WARPLADDER_SUCCESS;
}
