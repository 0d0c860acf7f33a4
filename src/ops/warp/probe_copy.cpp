// What the exchange is measured against: a copy of as many bytes, in which no word changes lanes.

#include "ops/rival.hpp"
#include "ops/warp/problem.hpp"

namespace warpladder::warp {
namespace {

void launch(const void* erased, device::Stream& stream) {
  const Call& call = *static_cast<const Call*>(erased);
  device::copy(stream, call.out, call.in,
               static_cast<std::size_t>(call.tiles * kTileWords) * sizeof(float));
}

const bool declared = ops::declare_rival({"warp", "memcpy", "a copy of as many bytes", "",
                                          device::Target::gpu, launch, nullptr, nullptr, true});

}  // namespace
}  // namespace warpladder::warp
