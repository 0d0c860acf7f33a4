#pragma once
// How many lanes of a request to shared memory are served in one go.

#include <cstdint>

namespace warpladder::executor {

// True when each lane asks for the address of the lane whose number differs in the bit `distance`,
// or that lane takes no part.
inline bool neighbours_share(const std::uint64_t* address, const std::uint8_t* lane, int n,
                             unsigned distance) {
  for (int i = 0; i < n; ++i) {
    if (lane[i] & distance) continue;
    const unsigned other = lane[i] | distance;
    int j = i + 1;
    while (j < n && lane[j] < other) ++j;
    if (j < n && lane[j] == other && address[j] != address[i]) return false;
  }
  return true;
}

// A request is served in one go up to 4 bytes a lane, by half-warps at 8 and by quarter-warps at
// 16. Groups of loads are twice as large where neighbours share addresses in the whole warp. The
// rule is a GPU's: tests/executor/bank_patterns_test.cpp holds it to what one counted.
inline unsigned lanes_at_once(const std::uint64_t* address, const std::uint8_t* lane, int n,
                              unsigned bytes, bool is_load) {
  const unsigned words = (bytes + 3) / 4;
  const bool is_shared =
      is_load && words > 1 &&
      (neighbours_share(address, lane, n, 1) || neighbours_share(address, lane, n, 2));
  return 32 / words * (is_shared ? 2 : 1);
}

}  // namespace warpladder::executor
