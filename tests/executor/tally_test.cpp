// From lanes' addresses to sectors and wavefronts, against the definitions, on random requests.

#include "executor/tally.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace warpladder::kernel_tests {
namespace {

using executor::Tally;

struct Request {
  std::vector<std::uint64_t> address;
  std::vector<std::uint8_t> lane;
  unsigned bytes = 4;
  int lanes() const { return static_cast<int>(lane.size()); }
};

// Distinct 32-byte sectors, and those that the distinct bytes would fill. Addresses are multiples
// of the size, so that two accesses are of the same bytes or of none in common.
Tally by_definition_global(const Request& r) {
  const std::set<std::uint64_t> addresses(r.address.begin(), r.address.end());
  std::set<std::uint64_t> sectors;
  for (const std::uint64_t address : addresses) sectors.insert(address / 32);
  Tally t;
  t.requests = 1;
  t.lanes = r.lane.size();
  t.sectors = sectors.size();
  t.ideal_sectors = (addresses.size() * r.bytes + 31) / 32;
  t.worst = static_cast<unsigned>(sectors.size());
  return t;
}

// Whether all lanes that differ in one bit of their numbers ask for the same, if both ask.
bool all_share(const Request& r, unsigned bit) {
  std::map<unsigned, std::set<std::uint64_t>> asked;  // by the lane's number without the bit
  for (int i = 0; i < r.lanes(); ++i) asked[r.lane[i] & ~bit].insert(r.address[i]);
  return std::ranges::all_of(asked, [](const auto& pair) { return pair.second.size() == 1; });
}

// Up to 4 bytes the warp is served at once, at 8 by half-warps, at 16 by quarters. Loads are served
// in parts twice as large where neighbours share. Each part takes as many passes as its busiest
// bank has distinct words.
Tally by_definition_shared(const Request& r, bool is_load) {
  unsigned parts = r.bytes <= 4 ? 1 : r.bytes / 4;
  if (is_load && parts > 1 && (all_share(r, 1) || all_share(r, 2))) parts /= 2;
  std::map<unsigned, std::map<unsigned, std::set<std::uint64_t>>> words;  // of part, of bank
  for (int i = 0; i < r.lanes(); ++i) {
    for (unsigned b = 0; b < r.bytes; b += 4) {  // which words it reaches
      const std::uint64_t word = (r.address[i] + b) / 4;
      words[r.lane[i] / (32 / parts)][word % 32].insert(word);
    }
  }
  Tally t;
  t.requests = 1;
  t.lanes = r.lane.size();
  t.ideal_wavefronts = words.size();
  for (const auto& [part, banks] : words) {
    std::size_t busiest = 0;
    for (const auto& [bank, in_bank] : banks) busiest = std::max(busiest, in_bank.size());
    t.wavefronts += busiest;
  }
  t.worst = static_cast<unsigned>(t.wavefronts);
  return t;
}

void expect_same(const Tally& got, const Tally& want, const Request& r) {
  const bool same = got.requests == want.requests && got.lanes == want.lanes &&
                    got.sectors == want.sectors && got.ideal_sectors == want.ideal_sectors &&
                    got.wavefronts == want.wavefronts &&
                    got.ideal_wavefronts == want.ideal_wavefronts && got.worst == want.worst;
  EXPECT_TRUE(same) << r.bytes << " bytes: sectors " << got.sectors << " of " << want.sectors
                    << ", ideal " << got.ideal_sectors << " of " << want.ideal_sectors
                    << ", wavefronts " << got.wavefronts << " of " << want.wavefronts << ", ideal "
                    << got.ideal_wavefronts << " of " << want.ideal_wavefronts << ", worst "
                    << got.worst << " of " << want.worst
                    << "; addresses: " << ::testing::PrintToString(r.address);
}

// All lanes or some; one address, neighbours, strides, a narrow or a wide range, or few addresses.
Request random_request(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Request r;
  r.bytes = 1u << below(5);
  const std::uint64_t chosen = below(3) ? 0xffffffff : random() | 1u << below(32);
  for (std::uint8_t lane = 0; lane < 32; ++lane) {
    if (chosen >> lane & 1) r.lane.push_back(lane);
  }
  const std::uint64_t base = (std::uint64_t{1} << 40) + below(64) * 16;
  const std::uint64_t pattern = below(8), stride = 1 + below(40);
  const std::uint64_t range[] = {4, 40, 130, 100000};
  const std::uint64_t reach = range[below(4)];
  std::vector<std::uint64_t> few(1 + below(5));
  for (std::uint64_t& f : few) f = below(300);
  for (int i = 0; i < r.lanes(); ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    const std::uint64_t from_end = 31u - r.lane[i];
    const std::uint64_t lane = r.lane[i];
    const std::uint64_t index[] = {7,
                                   n,
                                   n * stride,
                                   below(reach),
                                   few[below(few.size())],
                                   from_end,
                                   lane / 2 * stride,
                                   (lane % 2 + lane / 4 * 2) * stride};
    r.address.push_back(base + r.bytes * index[pattern]);
  }
  return r;
}

TEST(Tally, AgreesWithTheDefinitionsOnRandomRequests) {
  std::mt19937_64 random(20240229);
  for (int i = 0; i < 100000 && !::testing::Test::HasFailure(); ++i) {
    const Request r = random_request(random);
    Tally global, loaded, stored;
    global.add_global(r.address.data(), r.lanes(), r.bytes);
    loaded.add_shared(r.address.data(), r.lane.data(), r.lanes(), r.bytes, true);
    stored.add_shared(r.address.data(), r.lane.data(), r.lanes(), r.bytes, false);
    expect_same(global, by_definition_global(r), r);
    expect_same(loaded, by_definition_shared(r, true), r);
    expect_same(stored, by_definition_shared(r, false), r);
  }
}

// A site's requests, most of which differ from the one before in the first address alone.
TEST(LastRequest, CostsWhatEachRequestCostsByItself) {
  std::mt19937_64 random(20261126);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (int i = 0; i < 5000 && !::testing::Test::HasFailure(); ++i) {
    Request r = random_request(random);
    executor::LastRequest global, loaded, stored;
    Tally got[3], want[3];
    for (int step = 0; step < 12; ++step) {
      const int n = r.lanes();
      global.add_global(got[0], r.address.data(), r.lane.data(), n, r.bytes);
      loaded.add_shared(got[1], r.address.data(), r.lane.data(), n, r.bytes, true);
      stored.add_shared(got[2], r.address.data(), r.lane.data(), n, r.bytes, false);
      want[0].add_global(r.address.data(), n, r.bytes);
      want[1].add_shared(r.address.data(), r.lane.data(), n, r.bytes, true);
      want[2].add_shared(r.address.data(), r.lane.data(), n, r.bytes, false);
      for (int k = 0; k < 3; ++k) expect_same(got[k], want[k], r);
      const std::uint64_t forward = below(12) * r.bytes;
      for (std::uint64_t& address : r.address) address += forward;
      if (below(4) == 0) r.address[below(r.address.size())] += r.bytes;
      if (below(6) == 0 && r.lane.size() > 1) {
        r.lane.pop_back();
        r.address.pop_back();
      }
      if (below(6) == 0 && r.lane.back() < 31) ++r.lane.back();
    }
  }
}

// Bytes of words that are 32 apart, although the addresses are less than 128 apart.
TEST(Tally, SeesABankConflictBetweenTheEndsOfARow) {
  for (const unsigned bytes : {1u, 2u}) {
    const std::uint64_t address[] = {4 - bytes, 128};
    const std::uint8_t lane[] = {0, 1};
    Tally t;
    t.add_shared(address, lane, 2, bytes, true);
    EXPECT_EQ(t.wavefronts, 2u) << bytes;
  }
}

TEST(Tally, SumsRequestsAndKeepsTheWorst) {
  const std::uint64_t one[] = {0, 4}, four[] = {0, 64, 128, 192};
  Tally sum, other;
  sum.add_global(one, 2, 4);
  other.add_global(four, 4, 4);
  other.add_global(one, 2, 4);
  sum.merge(other);
  EXPECT_EQ(sum.requests, 3u);
  EXPECT_EQ(sum.lanes, 8u);
  EXPECT_EQ(sum.sectors, 6u);
  EXPECT_EQ(sum.ideal_sectors, 3u);
  EXPECT_EQ(sum.worst, 4u);
  sum.merge(Tally());
  EXPECT_EQ(sum.requests, 3u);
}

}  // namespace
}  // namespace warpladder::kernel_tests
