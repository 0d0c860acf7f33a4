// c[i] = a[i] + b[i].

#include "library/call.hpp"
#include "library/operands.hpp"
#include "ops/vector_add/plan.hpp"

namespace warpladder::library {
namespace {

Status check_call(const vector_add::Call& sum) {
  if (sum.n < 0 || sum.n > INT64_MAX / 8) {
    return runtime::refuse_argument("vector_add: n must be between 0 and %lld, it is %lld",
                                    runtime::number(INT64_MAX / 8), runtime::number(sum.n));
  }
  const struct {
    const char* name;
    const float* data;
  } operands[] = {{"a", sum.a}, {"b", sum.b}, {"c", sum.c}};
  for (const auto& [name, data] : operands) {
    if (Status s = check_pointer("vector_add", name, data, sum.n, 4); !s.ok()) return s;
  }
  for (const auto& [name, data] : operands) {
    if (data == sum.c) continue;
    if (Status s =
            check_apart("vector_add", "c", vector_of(sum.c, sum.n), name, vector_of(data, sum.n));
        !s.ok()) {
      return s;
    }
  }
  return {};
}

}  // namespace
}  // namespace warpladder::library

using namespace warpladder;
using namespace warpladder::library;

warpladder_status warpladder_vector_add(warpladder_handle handle, int64_t n, const float* a,
                                        const float* b, float* c, warpladder_stream stream) {
  const vector_add::Call sum{n, a, b, c};
  const auto check_all = [&](const Context&) { return check_call(sum); };
  return call(handle, stream, check_all, [&](Session& session) -> Status {
    if (n == 0) return {};
    const vector_add::Plan plan =
        vector_add::WARPLADDER_LIBRARY_FLAVOUR::plan(sum, session.context.machine);
    return with_memory(
        session, plan.workspace_bytes, plan.flag_words,
        [&](runtime::StreamView& view, const Memory&) { plan.rung->launch(sum, view); });
  });
}
