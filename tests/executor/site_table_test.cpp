// The table of kernel source lines, as text and as the running program carries it.

#include "executor/site_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace warpladder::kernel_tests {
namespace {

using executor::Site;
using executor::SiteKind;
using executor::SiteTable;

constexpr const char* kText =
    "text 200\n"
    "line src/a.cu 12\n"
    "line src/b.cu 7\n"
    "kernel 0 void warpladder::op::(anonymous namespace)::first<4, (Mode)1>(float const*, int)\n"
    "site 9 block 1\n"
    "fma 1 3\n"
    "fma 2 1\n"
    "division 2 5\n"
    "site 20 read16 2\n"
    "site 31 write4 1\n"
    "kernel 96 warpladder::op::second(int)\n"
    "site 100 sync_block 2\n"
    "site 120 atomic8 1\n"
    "site 140 cp_async4 1\n"
    "site 160 shuffle 2\n";

TEST(SiteTable, ReadsItsText) {
  const SiteTable table(kText);
  const auto site_at = [&](std::uint32_t offset) { return table.sites()[table.site_of(offset)]; };
  EXPECT_EQ(site_at(9).kind, SiteKind::block);
  EXPECT_EQ(site_at(20).kind, SiteKind::load);
  EXPECT_EQ(site_at(20).bytes, 16);
  EXPECT_EQ(site_at(31).kind, SiteKind::store);
  EXPECT_EQ(site_at(31).bytes, 4);
  EXPECT_EQ(site_at(100).kind, SiteKind::sync);
  EXPECT_EQ(site_at(120).kind, SiteKind::atomic);
  EXPECT_EQ(site_at(120).bytes, 8);
  EXPECT_EQ(site_at(140).kind, SiteKind::async_copy);
  EXPECT_EQ(site_at(160).kind, SiteKind::exchange);
  EXPECT_EQ(table.line_of(9), (executor::SourceLine{"src/a.cu", 12}));
  EXPECT_EQ(table.line_of(20), (executor::SourceLine{"src/b.cu", 7}));
}

TEST(SiteTable, GivesABlockItsFusedMultiplyAdds) {
  const SiteTable table(kText);
  const Site block = table.sites()[table.site_of(9)];
  ASSERT_EQ(block.fma_count, 3u);
  EXPECT_EQ(table.fmas()[block.first_fma].source_line, 1u);
  EXPECT_EQ(table.fmas()[block.first_fma].per_lane, 3u);
  EXPECT_EQ(table.fmas()[block.first_fma + 1].source_line, 2u);
  EXPECT_FALSE(table.fmas()[block.first_fma + 1].divides);
  EXPECT_TRUE(table.fmas()[block.first_fma + 2].divides);
  EXPECT_EQ(table.sites()[table.site_of(20)].fma_count, 0u);
}

TEST(SiteTable, KnowsNothingElsewhere) {
  const SiteTable table(kText);
  for (const std::uint32_t offset : {0u, 4u, 60u, 196u, 200u, 4000000000u}) {
    EXPECT_EQ(table.site_of(offset), 0u) << offset;
    EXPECT_EQ(table.line_of(offset).line, 0) << offset;
  }
}

TEST(SiteTable, FindsTheSiteOfAnyPlaceInAFunction) {
  const SiteTable table(kText);
  EXPECT_EQ(table.line_of(table.site_near(22)).line, 7);   // behind the site at 20
  EXPECT_EQ(table.line_of(table.site_near(26)).line, 12);  // at the call whose site is 31
  EXPECT_EQ(table.line_of(table.site_near(80)).line, 12);
  EXPECT_EQ(table.site_near(96 + 32), 120u);
  EXPECT_EQ(
      SiteTable("text 200\nline a 1\nkernel 0 a\nsite 9 block 1\nkernel 96 b\n").site_near(98),
      0u);  // not another function's
}

TEST(SiteTable, ShortensKernelNames) {
  const SiteTable table(kText);
  EXPECT_EQ(table.kernel_name(0), "op::first<4, (Mode)1>");
  EXPECT_EQ(table.kernel_name(95), "op::first<4, (Mode)1>");
  EXPECT_EQ(table.kernel_name(96), "op::second");
  EXPECT_EQ(SiteTable("text 8\n").kernel_name(0), "unknown kernel");
}

TEST(SiteTable, RefusesMalformedText) {
  const std::string head = "text 200\nline a.cu 1\n";
  for (const std::string row :
       {"site", "site 9", "site 9 block", "site 9 block x", "site x block 1", "site 9 nonsense 1",
        "site 9 block 2", "site 9 read3 1", "site 204 block 1", "site -4 block 1"}) {
    try {
      SiteTable table(head + row + "\n");
      ADD_FAILURE() << "accepted: " << row;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::resource);
      EXPECT_NE(std::string(error.what()).find(row), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(SiteTable("site 9 block 0\n"), Error);  // no text to lie in
  EXPECT_NO_THROW(SiteTable(head + "site 9 block 1\n"));
  EXPECT_NO_THROW(SiteTable(""));
}

// Rows of a part are read when one of its sites, or its kernel's name, is asked for.
TEST(SiteTable, ReadsPartsWhenTheyAreAskedFor) {
  const std::string first = "kernel 0 warpladder::op::first(int)\nsite 9 block 1\nfma 1 3\n";
  const std::string second = "kernel 96 warpladder::op::second(int)\nsite 100 sync_block 1\n";
  const std::string broken = "kernel 160 warpladder::op::third(int)\nsite 164 nonsense 1\n";
  std::string text = "text 200 3 1\nline a.cu 12\n";
  for (const auto& [offset, rows] : {std::pair{0, first}, {96, second}, {160, broken}}) {
    text += "part " + std::to_string(offset) + ' ' + std::to_string(rows.size()) + '\n' + rows;
  }
  const SiteTable table(text);
  EXPECT_EQ(table.sites().size(), 4u);
  EXPECT_EQ(table.site_of(100), 1u);  // the first that was asked for
  EXPECT_EQ(table.sites()[1].kind, SiteKind::sync);
  EXPECT_EQ(table.kernel_name(0), "op::first");
  EXPECT_EQ(table.site_of(9), 2u);
  EXPECT_EQ(table.sites()[2].fma_count, 1u);
  EXPECT_EQ(table.line_of(9), (executor::SourceLine{"a.cu", 12}));
  EXPECT_EQ(table.kernel_name(100), "op::second");
  EXPECT_EQ(table.site_of(60), 0u);
  EXPECT_THROW(table.site_of(164), Error);
}

// Of threads that ask at once, each finds what the one that reads has found.
TEST(SiteTable, IsReadByAnyThread) {
  std::string text = "text 40000 1000 0\nline a.cu 12\n";
  for (unsigned offset = 0; offset < 40000; offset += 40) {
    const std::string row = "site " + std::to_string(offset + 4) + " read4 1\n";
    text += "part " + std::to_string(offset) + ' ' + std::to_string(row.size()) + '\n' + row;
  }
  const SiteTable table(text);
  std::atomic<unsigned> missing{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (unsigned offset = 4; offset < 40000; offset += 40) {
        missing += table.sites()[table.site_of(offset)].bytes != 4;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(missing, 0u);
}

// This program's own: the test kernels are in it, with their files.
TEST(SiteTable, IsPartOfTheProgram) {
  const SiteTable& table = SiteTable::instance();
  EXPECT_GT(table.sites().size(), 1000u);
  int of_this_test = 0;
  for (const executor::SourceLine& line : table.lines()) {
    of_this_test += line.file == "tests/executor/kernels/counts_sgemm.cu";
    EXPECT_FALSE(line.file.ends_with(".cu") && line.file.starts_with("/")) << line.file;
  }
  EXPECT_GT(of_this_test, 20);
}

}  // namespace
}  // namespace warpladder::kernel_tests
