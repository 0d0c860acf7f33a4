#pragma once
// From the addresses of a warp's lanes to what the memory system would count for the request.

#include <cstdint>

namespace warpladder::executor {

// The sums of one site's requests to one memory space.
struct Tally {
  std::uint64_t requests = 0, lanes = 0;
  std::uint64_t sectors = 0, ideal_sectors = 0;
  std::uint64_t wavefronts = 0, ideal_wavefronts = 0;
  unsigned worst = 0;

  // address[i] is what lane[i] asks for, `bytes` wide and aligned to it; lanes ascend; n in 1 … 32.
  void add_global(const std::uint64_t* address, int n, unsigned bytes);
  // `is_load`: wide loads of lanes that share addresses take fewer wavefronts; stores do not.
  void add_shared(const std::uint64_t* address, const std::uint8_t* lane, int n, unsigned bytes,
                  bool is_load);
  void merge(const Tally& other);
};

}  // namespace warpladder::executor
