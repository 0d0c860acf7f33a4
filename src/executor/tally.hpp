#pragma once
// From the addresses of a warp's lanes to what the memory system would count for the request.

#include <array>
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

// What one site's last request to one memory space cost. Most requests of a site differ from the
// one before in the first address alone. Then the cost depends on that address's place in its
// sector, and is looked up.
class LastRequest {
 public:
  // As Tally::add_global(), and Tally::add_shared().
  void add_global(Tally& tally, const std::uint64_t* address, const std::uint8_t* lane, int n,
                  unsigned bytes);
  void add_shared(Tally& tally, const std::uint64_t* address, const std::uint8_t* lane, int n,
                  unsigned bytes, bool is_load);

 private:
  struct Cost {
    unsigned actual = 0, ideal = 0;  // 0: not known
  };
  Cost& cost_of(const std::uint64_t* address, const std::uint8_t* lane, int n);
  template <class Count>
  void add(Tally& tally, std::uint64_t Tally::*actual, std::uint64_t Tally::*ideal,
           const std::uint64_t* address, const std::uint8_t* lane, int n, const Count& count);

  int n_ = 0;
  std::array<std::uint8_t, 32> lane_ = {};
  std::array<std::uint64_t, 32> distance_ = {};  // from the first address
  std::array<Cost, 32> cost_;                    // by the first address's place in its sector
};

}  // namespace warpladder::executor
