#pragma once
// Requests to shared memory that settle which lanes share a wavefront. They have words that lanes
// share, conflicts within and between parts of a warp, and lanes that take no part.

#include <array>
#include <cstdint>
#include <vector>

namespace warpladder::agreement {

constexpr int kLanes = 32, kElements = 1024;

struct Pattern {
  int bytes = 4;                     // of a lane's access: 4, 8 or 16
  std::uint32_t lanes = 0xffffffff;  // those that take part, a bit each
  std::array<int, kLanes> at{};      // element of each lane, below kElements; 0 if it takes no part
};

// Always the same, in the same order.
std::vector<Pattern> patterns();

}  // namespace warpladder::agreement
