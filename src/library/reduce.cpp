// One value of an array, or of each line of a matrix.

#include "library/call.hpp"
#include "library/operands.hpp"
#include "ops/reduce/plan.hpp"
#include "ops/reduce_axis/plan.hpp"

namespace warpladder::library {
namespace {

using parts::Function;
using runtime::refuse_argument;

// Both lists of functions are in one order.
static_assert(static_cast<int>(Function::sum) == WARPLADDER_SUM &&
              static_cast<int>(Function::mean) == WARPLADDER_MEAN &&
              static_cast<int>(Function::min) == WARPLADDER_MIN &&
              static_cast<int>(Function::max) == WARPLADDER_MAX &&
              static_cast<int>(Function::argmin) == WARPLADDER_ARGMIN &&
              static_cast<int>(Function::argmax) == WARPLADDER_ARGMAX);
Function function_of(warpladder_reduction function) { return static_cast<Function>(function); }

Status check_function(const char* name, warpladder_reduction function) {
  if (function >= WARPLADDER_SUM && function <= WARPLADDER_ARGMAX) return {};
  return refuse_argument("%s: function is %d, which is none", name, static_cast<int>(function));
}

int result_bytes(Function function) { return parts::is_place(function) ? 8 : 4; }

// The results, and that they do not overlap what they are made from.
Status check_results(const char* name, const char* argument, const void* results,
                     std::int64_t count, Function function, const Region& in) {
  const int bytes = result_bytes(function);
  if (Status s = check_pointer(name, argument, results, count, bytes); !s.ok()) return s;
  return check_apart(name, argument, vector_of(results, count * bytes / 4), "x", in);
}

Status check_reduce(const reduce::Call& c, void* result) {
  const reduce::Problem& p = c.problem;
  if (Status s = reduce::check(p); !s.ok()) return s;
  if (Status s = check_pointer("reduce", "x", c.in, p.n, 4); !s.ok()) return s;
  return check_results("reduce", "result", result, 1, p.function, vector_of(c.in, p.n));
}

Status check_reduce_axis(const reduce_axis::Call& c, int axis, void* results) {
  const reduce_axis::Problem& p = c.problem;
  if (axis != 0 && axis != 1) {
    return refuse_argument("reduce_axis: axis must be 0 or 1, it is %d", axis);
  }
  std::int64_t elements = 0;
  if (Status s = reduce_axis::check(p, &elements); !s.ok()) return s;
  if (Status s = check_pointer("reduce_axis", "x", c.in, elements, 4); !s.ok()) return s;
  return check_results("reduce_axis", "results", results, p.results(), p.function,
                       {c.in, p.rows, p.columns, p.ld});
}

reduce_axis::Problem axis_problem(Function function, int axis, std::int64_t rows,
                                  std::int64_t columns, std::int64_t ld) {
  return {function, axis == 1 ? reduce_axis::Lines::rows : reduce_axis::Lines::columns, rows,
          columns, ld};
}

}  // namespace
}  // namespace warpladder::library

using namespace warpladder;
using namespace warpladder::library;

warpladder_status warpladder_reduce(warpladder_handle handle, warpladder_reduction function,
                                    int64_t n, const float* x, void* result,
                                    warpladder_stream stream) {
  reduce::Call reduction;
  const auto check_all = [&](const Context&) -> Status {
    if (Status s = check_function("reduce", function); !s.ok()) return s;
    reduction.problem = {function_of(function), n};
    reduction.in = x;
    return check_reduce(reduction, result);
  };
  return call(handle, stream, check_all, [&](Session& session) {
    const bool place = parts::is_place(reduction.problem.function);
    reduction.value = place ? nullptr : static_cast<float*>(result);
    reduction.place = place ? static_cast<std::int64_t*>(result) : nullptr;
    const reduce::Plan plan =
        reduce::WARPLADDER_LIBRARY_FLAVOUR::plan(reduction.problem, session.context.machine);
    return with_memory(session, plan.workspace_bytes, plan.flag_words,
                       [&](runtime::StreamView& view, const Memory& memory) {
                         reduction.scratch = static_cast<std::uint64_t*>(memory.scratch);
                         reduction.flags = memory.flags;
                         plan.rung->launch(reduction, view);
                       });
  });
}

warpladder_status warpladder_reduce_axis(warpladder_handle handle, warpladder_reduction function,
                                         int axis, int64_t rows, int64_t columns, const float* x,
                                         int64_t ld, void* results, warpladder_stream stream) {
  reduce_axis::Call reduction;
  const auto check_all = [&](const Context&) -> Status {
    if (Status s = check_function("reduce_axis", function); !s.ok()) return s;
    reduction.problem = axis_problem(function_of(function), axis, rows, columns, ld);
    reduction.in = x;
    return check_reduce_axis(reduction, axis, results);
  };
  return call(handle, stream, check_all, [&](Session& session) -> Status {
    if (reduction.problem.results() == 0) return {};
    const bool place = parts::is_place(reduction.problem.function);
    reduction.values = place ? nullptr : static_cast<float*>(results);
    reduction.places = place ? static_cast<std::int64_t*>(results) : nullptr;
    const reduce_axis::Plan plan =
        reduce_axis::WARPLADDER_LIBRARY_FLAVOUR::plan(reduction.problem, session.context.machine);
    return with_memory(session, plan.workspace_bytes, plan.flag_words,
                       [&](runtime::StreamView& view, const Memory& memory) {
                         reduction.flags = memory.flags;
                         plan.rung->launch(reduction, view);
                       });
  });
}

warpladder_status warpladder_reduce_workspace_bytes(warpladder_handle handle, int64_t n,
                                                    size_t* bytes) {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return answer(found);
  if (!bytes) return answer(refuse_argument("reduce_workspace_bytes: bytes is null"));
  const reduce::Problem p{Function::sum, n};
  if (const Status s = reduce::check(p); !s.ok()) return answer(s);
  const reduce::Plan plan = reduce::WARPLADDER_LIBRARY_FLAVOUR::plan(p, context->machine);
  *bytes = workspace_bytes(plan.workspace_bytes, plan.flag_words);
  return WARPLADDER_SUCCESS;
}

warpladder_status warpladder_reduce_axis_workspace_bytes(warpladder_handle handle, int64_t rows,
                                                         int64_t columns, size_t* bytes) {
  Context* context = nullptr;
  if (const Status found = find(handle, &context); !found.ok()) return answer(found);
  if (!bytes) return answer(refuse_argument("reduce_axis_workspace_bytes: bytes is null"));
  *bytes = 0;
  for (const int axis : {0, 1}) {
    const reduce_axis::Problem p =
        axis_problem(Function::sum, axis, rows, columns, columns > 1 ? columns : 1);
    if (const Status s = reduce_axis::check(p); !s.ok()) return answer(s);
    const reduce_axis::Plan plan =
        reduce_axis::WARPLADDER_LIBRARY_FLAVOUR::plan(p, context->machine);
    const std::size_t needed = workspace_bytes(plan.workspace_bytes, plan.flag_words);
    if (needed > *bytes) *bytes = needed;
  }
  return WARPLADDER_SUCCESS;
}
