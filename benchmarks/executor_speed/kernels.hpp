#pragma once
// The kernels that the executor's speed is measured on, for k, m, n that are multiples of 128; each
// exists once per flavour.

#include <cstdint>

#include "runtime/stream.hpp"

namespace warpladder::executor_speed {

struct Square {
  int n;
  const float* a;
  const float* b;
  float* c;
};

#define WARPLADDER_DECLARE(flavour)                                         \
  namespace flavour {                                                       \
  void tiled_32x32(const Square& s, runtime::StreamView& stream);           \
  void thread_tile_128x128x8(const Square& s, runtime::StreamView& stream); \
  }
WARPLADDER_DECLARE(plain)
WARPLADDER_DECLARE(counted)
#undef WARPLADDER_DECLARE

}  // namespace warpladder::executor_speed
