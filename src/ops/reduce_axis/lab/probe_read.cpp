// What reductions are measured against: reading as many bytes, those of the results too.

#include "ops/lab/rival.hpp"
#include "ops/reduce_axis/problem.hpp"

namespace warpladder::reduce_axis {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  device::read(stream, call.in, static_cast<std::size_t>(minimal_bytes(call.problem)));
}

const bool declared = ops::declare_rival({"reduce_axis", "read", "reading as many bytes", "",
                                          runtime::Target::gpu, launch, nullptr, nullptr, true});

}  // namespace
}  // namespace warpladder::reduce_axis
