// What reductions are measured against: reading as many bytes, those of the results too.

#include "ops/reduce_axis/problem.hpp"
#include "ops/rival.hpp"

namespace warpladder::reduce_axis {
namespace {

void launch(const void* erased, device::Stream& stream) {
  const Call& call = *static_cast<const Call*>(erased);
  device::read(stream, call.in, static_cast<std::size_t>(minimal_bytes(call.problem)));
}

const bool declared = ops::declare_rival({"reduce_axis", "read", "reading as many bytes", "",
                                          device::Target::gpu, launch, nullptr, nullptr, true});

}  // namespace
}  // namespace warpladder::reduce_axis
