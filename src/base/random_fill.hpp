#pragma once
// Random fillings in which an element depends only on the seed and its index. So any number of
// threads, in any order, on host or device, make the same data.

#include <cstdint>
#include <span>

#include "base/philox.hpp"

namespace warpladder {

// The four words that elements 4 * block ... 4 * block + 3 are made of.
constexpr PhiloxBlock random_block(std::uint64_t seed, std::uint64_t block) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  return philox4x32({{low(block), low(block >> 32), 0, 0}}, {{low(seed), low(seed >> 32)}});
}

// 24 bits of the word, uniform in [lo, hi]. In double the product is exact for ordinary bounds,
// so a compiler that fuses it with the sum changes nothing.
constexpr float uniform_from(std::uint32_t word, float lo, float hi) {
  constexpr double kUnit = 1.0 / (1 << 24);
  const double width = static_cast<double>(hi) - static_cast<double>(lo);
  return static_cast<float>(lo + width * ((word >> 8) * kUnit));
}

constexpr float uniform_element(std::uint64_t seed, std::uint64_t index, float lo, float hi) {
  return uniform_from(random_block(seed, index / 4).word[index % 4], lo, hi);
}

// out[i] = uniform_element(seed, i, lo, hi). Throws unless lo <= hi and both are finite.
void fill_uniform(std::span<float> out, std::uint64_t seed, float lo, float hi);

}  // namespace warpladder
