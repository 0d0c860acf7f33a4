#include "base/random_fill.hpp"

#include <cmath>
#include <cstddef>
#include <string>

#include "base/error.hpp"

namespace warpladder {

void fill_uniform(std::span<float> out, std::uint64_t seed, float lo, float hi) {
  if (!(std::isfinite(lo) && std::isfinite(hi) && lo <= hi)) {
    throw_bad_input("the bounds of a random filling must be finite and in order, but are " +
                    std::to_string(lo) + " and " + std::to_string(hi));
  }
  for (std::size_t i = 0; i < out.size(); i += 4) {
    const PhiloxBlock block = random_block(seed, i / 4);
    for (std::size_t j = 0; j < 4 && i + j < out.size(); ++j) {
      out[i + j] = uniform_from(block.word[j], lo, hi);
    }
  }
}

}  // namespace warpladder
