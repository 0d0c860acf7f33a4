// out[j][i] = in[i][j], also in place.

#include "library/call.hpp"
#include "library/operands.hpp"
#include "ops/transpose/plan.hpp"

namespace warpladder::library {
namespace {

using runtime::refuse_argument;
using transpose::Problem;

bool is_empty(const Problem& p) { return p.rows == 0 || p.columns == 0 || p.batch == 0; }

Status check_in_place(const Problem& p) {
  const struct {
    const char *one, *other;
    std::int64_t first, second;
  } equal[] = {{"rows", "columns", p.rows, p.columns},
               {"ld_in", "ld_out", p.ld_in, p.ld_out},
               {"stride_in", "stride_out", p.stride_in, p.stride_out}};
  for (const auto& [one, other, first, second] : equal) {
    if (first == second || (p.batch == 1 && one[0] == 's')) continue;
    return refuse_argument("transpose: in place %s and %s must be equal, they are %lld and %lld",
                           one, other, runtime::number(first), runtime::number(second));
  }
  return {};
}

Status check_call(const transpose::Call& c) {
  const Problem& p = c.problem;
  Problem::Footprint footprint{};
  if (Status s = transpose::check(p, &footprint); !s.ok()) return s;
  if (is_empty(p)) return {};
  if (Status s = check_pointer("transpose", "in", c.in, footprint.in_elements, 4); !s.ok()) {
    return s;
  }
  if (Status s = check_pointer("transpose", "out", c.out, footprint.out_elements, 4); !s.ok()) {
    return s;
  }
  if (c.in_place()) return check_in_place(p);
  return check_apart("transpose", "out",
                     {c.out, p.columns, p.rows, p.ld_out, p.batch, p.stride_out}, "in",
                     {c.in, p.rows, p.columns, p.ld_in, p.batch, p.stride_in});
}

}  // namespace
}  // namespace warpladder::library

using namespace warpladder;
using namespace warpladder::library;

warpladder_status warpladder_transpose(warpladder_handle handle, int64_t rows, int64_t columns,
                                       const float* in, int64_t ld_in, int64_t stride_in,
                                       float* out, int64_t ld_out, int64_t stride_out,
                                       int64_t batch, warpladder_stream stream) {
  const transpose::Call copy{{rows, columns, ld_in, ld_out, batch, stride_in, stride_out}, in, out};
  const auto check_all = [&](const Context&) { return check_call(copy); };
  return call(handle, stream, check_all, [&](Session& session) -> Status {
    if (is_empty(copy.problem)) return {};
    const transpose::Plan plan =
        transpose::WARPLADDER_LIBRARY_FLAVOUR::plan(copy, session.context.machine);
    return with_memory(
        session, plan.workspace_bytes, plan.flag_words,
        [&](runtime::StreamView& view, const Memory&) { plan.rung->launch(copy, view); });
  });
}
