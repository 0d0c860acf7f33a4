// The model of shared memory against what a GPU counted for single requests. results/current holds
// 555 patterns of addresses with the wavefronts that their load and their store took.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "executor/tally.hpp"

namespace warpladder::kernel_tests {
namespace {

using executor::Tally;

Tally tally_of(const nlohmann::json& pattern, bool is_load) {
  const unsigned bytes = pattern["bytes"];
  const std::uint32_t lanes = pattern["lanes"];
  std::uint64_t address[32];
  std::uint8_t lane[32];
  int n = 0;
  for (std::uint8_t l = 0; l < 32; ++l) {
    if (!(lanes >> l & 1)) continue;
    address[n] = (std::uint64_t{1} << 40) + pattern["at"][l].get<std::uint64_t>() * bytes;
    lane[n++] = l;
  }
  Tally t;
  t.add_shared(address, lane, n, bytes, is_load);
  return t;
}

TEST(BankPatterns, TakeTheWavefrontsThatAGpuCounted) {
  std::size_t patterns = 0, merged = 0;
  for (const auto& gpu :
       std::filesystem::directory_iterator(WARPLADDER_SOURCE_DIR "/results/current")) {
    std::ifstream file(gpu.path() / "bank_patterns.json");
    if (!file) continue;
    const nlohmann::json recording = nlohmann::json::parse(file);
    for (const nlohmann::json& p : recording["rows"]) {
      SCOPED_TRACE(p.dump());
      const Tally load = tally_of(p, true), store = tally_of(p, false);
      EXPECT_EQ(load.wavefronts, p["load"]);
      EXPECT_EQ(load.wavefronts - load.ideal_wavefronts, p["load_conflicts"]);
      EXPECT_EQ(store.wavefronts, p["store"]);
      EXPECT_EQ(store.wavefronts - store.ideal_wavefronts, p["store_conflicts"]);
      ++patterns;
      merged += p["load"] != p["store"];
    }
  }
  EXPECT_GE(patterns, 555u);
  EXPECT_GE(merged, 172u);  // where a load takes fewer wavefronts than a store
}

}  // namespace
}  // namespace warpladder::kernel_tests
