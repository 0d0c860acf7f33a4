#include "executor/tally.hpp"

#include <algorithm>
#include <bit>

#include "executor/bank_groups.hpp"

namespace warpladder::executor {
namespace {

enum class Pattern { same, contiguous, other };

// The two patterns that most requests follow, told without a branch per lane.
Pattern pattern_of(const std::uint64_t* address, int n, unsigned bytes) {
  const std::uint64_t first = address[0];
  std::uint64_t not_same = 0, not_contiguous = 0;
  for (int i = 0; i < n; ++i) {
    not_same |= address[i] ^ first;
    not_contiguous |= address[i] ^ (first + static_cast<std::uint64_t>(i) * bytes);
  }
  if (!not_same) return Pattern::same;
  return not_contiguous ? Pattern::other : Pattern::contiguous;
}

// True when all words lie within 32 neighbours, so that no two different ones share a bank. Shared
// addresses differ by far less than 2^31.
bool within_one_row_of_banks(const std::uint64_t* address, int n) {
  std::int32_t low = 0, high = 0;
  for (int i = 0; i < n; ++i) {
    const auto distance = static_cast<std::int32_t>(address[i] / 4 - address[0] / 4);
    low = std::min(low, distance);
    high = std::max(high, distance);
  }
  return high - low < 32;
}

// Passes through the banks for one group of lanes: the most distinct words that fall on one bank.
unsigned passes(const std::uint64_t* address, int n, unsigned words) {
  constexpr unsigned kMostWords = 64;  // of 16 lanes at 16 bytes
  constexpr unsigned kSlotBits = 7, kSlots = 1 << kSlotBits;
  static_assert(kSlots >= 2 * kMostWords);
  std::uint64_t word[kMostWords];
  std::uint8_t place[kSlots] = {};  // a hash table: places in `word`, from 1 on; 0 for none
  std::uint8_t depth[32] = {}, count = 0;
  unsigned worst = 1;
  for (int i = 0; i < n; ++i) {
    for (unsigned k = 0; k < words; ++k) {
      const std::uint64_t w = address[i] / 4 + k;
      std::uint64_t slot = w * 0x9e3779b97f4a7c15u >> (64 - kSlotBits);
      while (place[slot] && word[place[slot] - 1] != w) slot = (slot + 1) % kSlots;
      if (place[slot]) continue;
      word[count] = w;
      place[slot] = ++count;
      worst = std::max<unsigned>(worst, ++depth[w % 32]);
    }
  }
  return worst;
}

}  // namespace

void Tally::add_global(const std::uint64_t* address, int n, unsigned bytes) {
  ++requests;
  lanes += static_cast<unsigned>(n);
  unsigned asked = 0, distinct_bytes = 0;
  switch (pattern_of(address, n, bytes)) {
    case Pattern::same:
      asked = 1;
      distinct_bytes = bytes;
      break;
    case Pattern::contiguous:
      distinct_bytes = static_cast<unsigned>(n) * bytes;
      asked = static_cast<unsigned>((address[0] + distinct_bytes - 1) / 32 - address[0] / 32 + 1);
      break;
    case Pattern::other: {
      std::uint64_t sector[32], highest = 0;
      std::uint32_t touched[32];  // a bit per byte of the sector
      const std::uint32_t width = bytes == 32 ? ~0u : (1u << bytes) - 1;
      int count = 0, last = 0;
      for (int i = 0; i < n; ++i) {
        const std::uint64_t s = address[i] / 32;
        if (count == 0 || s > highest) {
          last = count++;
          sector[last] = highest = s;
          touched[last] = 0;
        } else if (s != sector[last]) {
          for (last = 0; last < count && sector[last] != s;) ++last;
          if (last == count) {
            sector[count++] = s;
            touched[last] = 0;
          }
        }
        touched[last] |= width << (address[i] % 32);
      }
      asked = static_cast<unsigned>(count);
      for (int i = 0; i < count; ++i) {
        distinct_bytes += static_cast<unsigned>(std::popcount(touched[i]));
      }
    }
  }
  sectors += asked;
  ideal_sectors += (distinct_bytes + 31) / 32;
  worst = std::max(worst, asked);
}

// Each group takes as many passes as its busiest bank has distinct words.
void Tally::add_shared(const std::uint64_t* address, const std::uint8_t* lane, int n,
                       unsigned bytes, bool is_load) {
  ++requests;
  lanes += static_cast<unsigned>(n);
  const unsigned words = (bytes + 3) / 4;
  const unsigned group_lanes = lanes_at_once(address, lane, n, bytes, is_load);
  unsigned in_request = 0, ideal = 0;
  if (bytes <= 4 && within_one_row_of_banks(address, n)) {
    in_request = ideal = 1;
  } else {
    for (int i = 0; i < n;) {
      const unsigned group = lane[i] / group_lanes;
      int end = i;
      while (end < n && lane[end] / group_lanes == group) ++end;
      in_request += passes(address + i, end - i, words);
      ++ideal;
      i = end;
    }
  }
  wavefronts += in_request;
  ideal_wavefronts += ideal;
  worst = std::max(worst, in_request);
}

// The distances of lanes that take no part are left as they are.
LastRequest::Cost& LastRequest::cost_of(const std::uint64_t* address, const std::uint8_t* lane,
                                        int n) {
  const std::uint64_t first = address[0];
  std::uint64_t differ = n != n_;
  for (int i = 0; i < n; ++i) differ |= (address[i] - first) ^ distance_[i];
  if (differ || !std::equal(lane, lane + n, lane_.begin())) {
    n_ = n;
    for (int i = 0; i < n; ++i) distance_[i] = address[i] - first;
    std::copy(lane, lane + n, lane_.begin());
    cost_.fill({});
  }
  return cost_[first % 32];
}

// count(tally) adds the same request to an empty tally; `actual` and `ideal` are what it costs
// there.
template <class Count>
void LastRequest::add(Tally& tally, std::uint64_t Tally::*actual, std::uint64_t Tally::*ideal,
                      const std::uint64_t* address, const std::uint8_t* lane, int n,
                      const Count& count) {
  Cost& cost = cost_of(address, lane, n);
  if (cost.actual == 0) {
    Tally one;
    count(one);
    cost = {static_cast<unsigned>(one.*actual), static_cast<unsigned>(one.*ideal)};
  }
  ++tally.requests;
  tally.lanes += static_cast<unsigned>(n);
  tally.*actual += cost.actual;
  tally.*ideal += cost.ideal;
  tally.worst = std::max(tally.worst, cost.actual);
}

void LastRequest::add_global(Tally& tally, const std::uint64_t* address, const std::uint8_t* lane,
                             int n, unsigned bytes) {
  add(tally, &Tally::sectors, &Tally::ideal_sectors, address, lane, n,
      [&](Tally& one) { one.add_global(address, n, bytes); });
}

void LastRequest::add_shared(Tally& tally, const std::uint64_t* address, const std::uint8_t* lane,
                             int n, unsigned bytes, bool is_load) {
  add(tally, &Tally::wavefronts, &Tally::ideal_wavefronts, address, lane, n,
      [&](Tally& one) { one.add_shared(address, lane, n, bytes, is_load); });
}

void Tally::merge(const Tally& other) {
  requests += other.requests;
  lanes += other.lanes;
  sectors += other.sectors;
  ideal_sectors += other.ideal_sectors;
  wavefronts += other.wavefronts;
  ideal_wavefronts += other.ideal_wavefronts;
  worst = std::max(worst, other.worst);
}

}  // namespace warpladder::executor
