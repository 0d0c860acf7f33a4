// What a reduction is measured against: reading as many bytes.

#include "ops/lab/rival.hpp"
#include "ops/reduce/problem.hpp"

namespace warpladder::reduce {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  device::read(stream, call.in, static_cast<std::size_t>(call.problem.n) * sizeof(float));
}

const bool declared = ops::declare_rival({"reduce", "read", "reading as many bytes", "",
                                          runtime::Target::gpu, launch, nullptr, nullptr, true});

}  // namespace
}  // namespace warpladder::reduce
