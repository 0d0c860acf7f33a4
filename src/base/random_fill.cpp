#include "base/random_fill.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace warpladder {

void fill_uniform(std::span<float> out, std::uint64_t seed, float lo, float hi) {
  if (!(std::isfinite(lo) && std::isfinite(hi) && lo <= hi)) {
    throw_bad_input("the bounds of a random filling must be finite and in order, but are " +
                    std::to_string(lo) + " and " + std::to_string(hi));
  }
  const auto fill_blocks = [=](std::size_t first, std::size_t last) {
    for (std::size_t block = first; block < last; ++block) {
      const PhiloxBlock random = random_block(seed, block);
      for (std::size_t j = 0; j < 4 && 4 * block + j < out.size(); ++j) {
        out[4 * block + j] = uniform_from(random.word[j], lo, hi);
      }
    }
  };
  // Each element depends on its index alone, so that threads may share the work as they like.
  const std::size_t blocks = (out.size() + 3) / 4;
  const std::size_t workers =
      std::clamp<std::size_t>(blocks >> 20, 1, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (std::size_t w = 1; w < workers; ++w) {
    threads.emplace_back(fill_blocks, blocks * w / workers, blocks * (w + 1) / workers);
  }
  fill_blocks(0, blocks / workers);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace warpladder
