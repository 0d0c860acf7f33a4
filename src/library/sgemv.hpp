#pragma once
// The product of a matrix and a vector, for the calls that are one: warpladder_sgemv(), and
// warpladder_sgemm() where C is one row or one column.

#include "library/call.hpp"
#include "ops/sgemv/plan.hpp"

namespace warpladder::library {

sgemv::Plan plan_of_vector(const Context& context, const sgemv::Problem& problem);
// Takes what memory the plan asks for, and launches.
Status multiply_vector(Session& session, sgemv::Call call);

}  // namespace warpladder::library
