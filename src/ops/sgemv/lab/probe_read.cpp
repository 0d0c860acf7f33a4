// What sgemv is measured against: reading A, which every rung must do, and nothing else.

#include "ops/lab/rival.hpp"
#include "ops/sgemv/problem.hpp"

namespace warpladder::sgemv {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  device::read(stream, call.a, static_cast<std::size_t>(p.m * p.n) * sizeof(float));
}

const bool declared = ops::declare_rival(
    {"sgemv", "read", "reading A", "", runtime::Target::gpu, launch, nullptr, nullptr, true});

}  // namespace
}  // namespace warpladder::sgemv
