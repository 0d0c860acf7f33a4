// The page of explain: maps of known requests, and what stands in it.

#include "lab/explain_page.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "lab/explain_figures.hpp"
#include "lab/explain_words.hpp"

namespace warpladder::lab {
namespace {

using executor::AccessCounts;
using executor::AccessKind;
using executor::MemorySpace;
using executor::Request;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++times;
  return times;
}

AccessCounts access(MemorySpace space, int bytes, unsigned worst, unsigned ideal) {
  const bool shared = space == MemorySpace::shared;
  const std::uint64_t w = worst, i = ideal;
  return {"k.cu",
          7,
          space,
          AccessKind::load,
          bytes,
          1,
          32,
          shared ? 0 : w,
          shared ? 0 : i,
          shared ? w : 0,
          shared ? i : 0,
          worst};
}

Request strided(std::uint64_t stride) {
  Request request;
  for (unsigned lane = 0; lane < 32; ++lane) request.push_back({lane, lane * stride});
  return request;
}

TEST(BankMap, AColumnOf32WordsFallsOnOneBank) {
  const Figure figure = bank_map(access(MemorySpace::shared, 4, 32, 1), strided(128));
  EXPECT_EQ(count(figure.svg, "class=\"c7\""), 32u);
  EXPECT_EQ(count(figure.svg, "class=\"c0\""), 0u);
  EXPECT_EQ(count(figure.svg, "of bank 0, one of 32 words"), 32u);
  EXPECT_EQ(
      figure.caption.find("The worst of 1 request: 32 wavefronts. On average 32; 1 would do."), 0u);
}

TEST(BankMap, OneMoreWordSpreadsIt) {
  const Figure figure = bank_map(access(MemorySpace::shared, 4, 1, 1), strided(132));
  EXPECT_EQ(count(figure.svg, "class=\"c7\""), 0u);
  EXPECT_EQ(count(figure.svg, "class=\"c0\""), 32u);
}

TEST(BankMap, ABroadcastIsNoConflict) {
  EXPECT_EQ(count(bank_map(access(MemorySpace::shared, 4, 1, 1), strided(0)).svg, "\"c7\""), 0u);
}

TEST(BankMap, WideLanesAreServedInGroups) {
  // 16 bytes each, side by side: each quarter-warp takes every bank once.
  const Figure figure = bank_map(access(MemorySpace::shared, 16, 4, 4), strided(16));
  EXPECT_EQ(count(figure.svg, "class=\"c0\""), 128u);
  EXPECT_EQ(count(figure.svg, "class=\"c7\""), 0u);
}

TEST(BankMap, LoadsOfPairsThatShareAreServedInLargerGroups) {
  // 16 lanes at once ask 4 banks for 8 words each: 2 x 8 wavefronts. Stores take 8 lanes at once.
  Request pairs;
  for (unsigned lane = 0; lane < 32; ++lane) pairs.push_back({lane, lane / 2 * 128});
  AccessCounts a = access(MemorySpace::shared, 16, 16, 4);
  EXPECT_EQ(count(bank_map(a, pairs).svg, ", one of 8 words"), 128u);
  a.kind = AccessKind::store;
  EXPECT_EQ(count(bank_map(a, pairs).svg, ", one of 4 words"), 128u);
}

TEST(SectorMap, ShowsWhatMovesAndWhatWasAskedFor) {
  const Figure near = sector_map(access(MemorySpace::global, 4, 4, 4), strided(4));
  EXPECT_EQ(count(near.svg, "class=\"moved\""), 4u);
  EXPECT_EQ(count(near.svg, "class=\"c0\""), 32u);
  const Figure far = sector_map(access(MemorySpace::global, 4, 32, 4), strided(1024));
  EXPECT_EQ(count(far.svg, "class=\"moved\""), 32u);
  EXPECT_NE(far.svg.find("+31,744"), std::string::npos);
}

Explanation explanation(const std::string& name, unsigned wavefronts) {
  Explanation e;
  e.rung = name;
  executor::KernelCounts k;
  k.kernel = name;
  k.grid = {2, 1, 1};
  k.block = {128, 1, 1};
  AccessCounts a = access(MemorySpace::shared, 4, wavefronts, 1);
  k.accesses = {a};
  k.worst_requests = {strided(128)};
  e.launches = {k};
  e.totals = ladder::totals_of(e.launches);
  e.ideal = ideal_totals(e.launches);
  e.lines = lines_of(e.launches);
  e.to_blame = blame(e.lines);
  return e;
}

TEST(Words, WhatTheLineWouldTake) {
  const Explanation e = explanation("tiled", 32);
  EXPECT_EQ(ideal_sentence(e),
            "Ideal: 1 L1 cycle instead of 32. All lines together would take 1 instead of 32 (32× "
            "fewer).");
  EXPECT_EQ(ideal_sentence(explanation("padded", 1)),
            "No access of it could take fewer L1 cycles: 1 in all.");
}

TEST(Words, WhatChangedIsOneSentenceInNumbers) {
  EXPECT_EQ(what_changed(explanation("tiled", 32), explanation("padded", 1)),
            "What changed from tiled to padded: L1 cycles 32 → 1 (32× fewer); shared load "
            "wavefronts 32 → 1 (32× fewer), and nothing else.");
  EXPECT_EQ(what_changed(explanation("a", 2), explanation("b", 2)),
            "What changed: nothing that is counted, b asks for what a does.");
}

TEST(Words, OccupancyIsAnUpperBoundWhereRegistersAreUnknown) {
  Explanation e = explanation("tiled", 32);
  const std::string unknown = occupancy_sentence(e.launches[0], e);
  EXPECT_NE(unknown.find("at most 16 blocks of 128 threads, 64 of 64 warps"), std::string::npos)
      << unknown;
  EXPECT_NE(unknown.find("unknown here"), std::string::npos);
  e.compiled.insert({"tiled", {128, 50000, "a test", {}}});
  const std::string known = occupancy_sentence(e.launches[0], e);
  EXPECT_NE(known.find(": 4 blocks of 128 threads, 16 of 64 warps"), std::string::npos) << known;
  EXPECT_NE(known.find("128 registers a thread and 50000 bytes"), std::string::npos) << known;
}

TEST(ExplainPage, HoldsEverythingAndAsksForNothing) {
  const Explanation a = explanation("tiled", 32), b = explanation("padded<int>", 1);
  const ExplainPage page{{&a, &b}, {{&a, &b}}, {}};
  const std::string text = html(page);
  EXPECT_EQ(text, html(page));
  EXPECT_EQ(text.find("<!DOCTYPE html>"), 0u);
  EXPECT_NE(text.find("padded&lt;int&gt;"), std::string::npos);
  EXPECT_NE(text.find("Line to blame: k.cu:7"), std::string::npos);
  EXPECT_NE(text.find("What changed from tiled to padded"), std::string::npos);
  for (const Gpu& gpu : gpus()) EXPECT_NE(text.find(gpu.name), std::string::npos) << gpu.name;
  for (const char* elsewhere : {"src=", "@import", "url(", "<link", "fetch("}) {
    EXPECT_EQ(text.find(elsewhere), std::string::npos) << elsewhere;
  }
  const std::regex address("https?://(?!www\\.w3\\.org/2000/svg)");
  EXPECT_FALSE(std::regex_search(text, address));
  for (const char* tag : {"section", "table", "figure", "svg", "details", "div"}) {
    const std::string name = tag;
    EXPECT_EQ(count(text, "<" + name + ">") + count(text, "<" + name + " "),
              count(text, "</" + name + ">"))
        << tag;
  }
}

TEST(ExplainPage, ShowsTheGpusThatWereNamed) {
  const Explanation e = explanation("tiled", 32);
  const std::string text = html(ExplainPage{{&e}, {}, {&find_gpu("4090")}});
  EXPECT_NE(text.find("RTX 4090"), std::string::npos);
  EXPECT_EQ(text.find("RTX 3090"), std::string::npos);
}

}  // namespace
}  // namespace warpladder::lab
