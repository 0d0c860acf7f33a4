// What the exchange is measured against: a copy of as many bytes, in which no word changes lanes.

#include "ops/lab/rival.hpp"
#include "ops/warp/problem.hpp"

namespace warpladder::warp {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  device::copy(stream, call.out, call.in,
               static_cast<std::size_t>(call.tiles * kTileWords) * sizeof(float));
}

const bool declared = ops::declare_rival({"warp", "memcpy", "a copy of as many bytes", "",
                                          runtime::Target::gpu, launch, nullptr, nullptr, true});

}  // namespace
}  // namespace warpladder::warp
