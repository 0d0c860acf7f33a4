#pragma once
// A product as the interface receives it: shared by sgemm and what comes with an epilogue.

#include "library/call.hpp"
#include "ops/sgemm/plan.hpp"

namespace warpladder::library {

struct GivenProduct {
  const char* name;
  warpladder_layout layout;
  warpladder_op op_a, op_b;
  sgemm::Call call;
};
sgemm::Problem problem_of(warpladder_layout layout, warpladder_op op_a, warpladder_op op_b,
                          std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                          std::int64_t lda, std::int64_t ldb, float beta, std::int64_t ldc);
Status check(const GivenProduct& given);
sgemm::Arithmetic arithmetic_of(const Context& context);
// Programs ask for the same few products again and again, and a plan takes some microseconds. So a
// thread remembers the plans that it made last.
sgemm::Plan plan_of(const Context& context, const sgemm::Problem& p, const sgemm::Batch& batch,
                    bool prepared);
// Of a call that has been checked.
Status multiply(Session& session, sgemm::Call call);

}  // namespace warpladder::library
