// What reductions are measured against: reading as many bytes.

#include "ops/reduce_axis/problem.hpp"
#include "ops/rival.hpp"

namespace warpladder::reduce_axis {
namespace {

void launch(const void* erased, device::Stream& stream) {
  const Call& call = *static_cast<const Call*>(erased);
  device::read(stream, call.in, static_cast<std::size_t>(footprint(call.problem)) * sizeof(float));
}

const bool declared = ops::declare_rival({"reduce_axis", "read", "reading as many bytes", "",
                                          device::Target::gpu, launch, nullptr, nullptr, true});

}  // namespace
}  // namespace warpladder::reduce_axis
