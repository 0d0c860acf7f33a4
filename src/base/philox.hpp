#pragma once
// Philox4x32-10, a counter-based random number generator: J. Salmon, M. Moraes, R. Dror, D. Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011. Plain integer constexpr functions, so
// that device code can call them as they are.

#include <cstdint>

namespace warpladder {

struct PhiloxBlock {
  std::uint32_t word[4];
};
struct PhiloxKey {
  std::uint32_t word[2];
};

constexpr PhiloxBlock philox_round(PhiloxBlock x, PhiloxKey key) {
  const std::uint64_t product0 = std::uint64_t{0xD2511F53} * x.word[0];
  const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * x.word[2];
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  return {{high(product1) ^ x.word[1] ^ key.word[0], low(product1),
           high(product0) ^ x.word[3] ^ key.word[1], low(product0)}};
}

// Four random words that depend on counter and key alone.
constexpr PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    counter = philox_round(counter, key);
    key.word[0] += 0x9E3779B9;  // the golden ratio
    key.word[1] += 0xBB67AE85;  // sqrt(3) - 1
  }
  return counter;
}

}  // namespace warpladder
