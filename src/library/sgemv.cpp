// y = alpha · op(A) · x + beta · y.

#include "library/sgemv.hpp"

#include "library/operands.hpp"

namespace warpladder::library {
namespace {

using runtime::refuse_argument;
using sgemv::Problem;

bool does_nothing(const Problem& p) {
  return p.m == 0 || p.n == 0 || (p.alpha == 0.0f && p.beta == 1.0f);
}

// A vector's elements are single floats, increments apart; those of one element have none.
Region region_of(const float* data, std::int64_t elements, std::int64_t increment) {
  const std::int64_t step = increment < 0 ? -increment : increment;
  return {data, elements, 1, step};
}

Status check_operands(const sgemv::Call& call, const Problem::Footprint& footprint) {
  const Problem& p = call.problem;
  const std::int64_t used = does_nothing(p) ? 0 : 1, read = p.alpha != 0.0f ? used : 0;
  const struct {
    const char* argument;
    const void* data;
    std::int64_t elements;
  } pointers[] = {{"a", call.a, read * footprint.a_elements},
                  {"x", call.x, read * footprint.x_elements},
                  {"y", call.y, used * footprint.y_elements}};
  for (const auto& [argument, data, elements] : pointers) {
    if (Status s = check_pointer("sgemv", argument, data, elements, sizeof(float)); !s.ok()) {
      return s;
    }
  }
  if (read == 0) return {};
  const Region a{call.a, lines(p), length(p), p.lda}, x = region_of(call.x, terms(p), p.incx),
                                                      y = region_of(call.y, outputs(p), p.incy);
  if (Status s = check_apart("sgemv", "y", y, "a", a); !s.ok()) return s;
  return check_apart("sgemv", "y", y, "x", x);
}

}  // namespace

sgemv::Plan plan_of_vector(const Context& context, const Problem& p) {
  return sgemv::WARPLADDER_LIBRARY_FLAVOUR::plan(p, context.machine);
}

Status multiply_vector(Session& session, sgemv::Call call) {
  const sgemv::Plan plan = plan_of_vector(session.context, call.problem);
  return with_memory(session, plan.workspace_bytes, plan.flag_words,
                     [&](runtime::StreamView& view, const Memory& memory) {
                       call.scratch = static_cast<float*>(memory.scratch);
                       call.flags = memory.flags;
                       plan.rung->launch(call, view);
                     });
}

}  // namespace warpladder::library

using namespace warpladder;
using namespace warpladder::library;

warpladder_status warpladder_sgemv(warpladder_handle handle, warpladder_layout layout,
                                   warpladder_op op_a, int64_t m, int64_t n, float alpha,
                                   const float* a, int64_t lda, const float* x, int64_t incx,
                                   float beta, float* y, int64_t incy, warpladder_stream stream) {
  sgemv::Call product{
      {m, n,
       layout == WARPLADDER_COLUMN_MAJOR ? sgemv::Layout::column_major : sgemv::Layout::row_major,
       op_a == WARPLADDER_OP_T, alpha, beta, lda, incx, incy},
      a,
      x,
      y};
  const auto check_all = [&](const Context&) -> Status {
    if (layout != WARPLADDER_ROW_MAJOR && layout != WARPLADDER_COLUMN_MAJOR) {
      return refuse_argument("sgemv: layout is %d, which is none", static_cast<int>(layout));
    }
    if (op_a != WARPLADDER_OP_N && op_a != WARPLADDER_OP_T) {
      return refuse_argument("sgemv: op_a is %d, which is none", static_cast<int>(op_a));
    }
    Problem::Footprint footprint{};
    if (Status s = sgemv::check(product.problem, &footprint); !s.ok()) return s;
    return check_operands(product, footprint);
  };
  return call(handle, stream, check_all, [&](Session& session) -> Status {
    if (does_nothing(product.problem)) return {};
    return multiply_vector(session, product);
  });
}

warpladder_status warpladder_sgemv_workspace_bytes(warpladder_handle handle, int64_t m, int64_t n,
                                                   size_t* bytes) {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return answer(found);
  if (!bytes) return answer(refuse_argument("sgemv_workspace_bytes: bytes is null"));
  *bytes = 0;
  for (const bool trans : {false, true}) {
    const Problem p = sgemv::compact(m, n, sgemv::Layout::row_major, trans);
    if (const Status s = sgemv::check(p); !s.ok()) return answer(s);
    const sgemv::Plan plan = plan_of_vector(*context, p);
    const std::size_t needed = workspace_bytes(plan.workspace_bytes, plan.flag_words);
    if (needed > *bytes) *bytes = needed;
  }
  return WARPLADDER_SUCCESS;
}
