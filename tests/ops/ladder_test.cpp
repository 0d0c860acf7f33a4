// The ladder against the folders of the rungs.

#include "ladder/ladder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "ops/lab/operator.hpp"

namespace warpladder {
namespace {

// A linker that drops an object file drops its rung without a word: compare with the folder.
TEST(Ladder, HoldsEveryRungFile) {
  std::set<std::string> files, rungs;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(WARPLADDER_SOURCE_DIR "/src/ops")) {
    if (entry.path().extension() != ".cu") continue;
    if (entry.path().parent_path().filename() != "rungs") continue;  // a rival
    std::filesystem::path stem = entry.path().stem();
    if (stem.extension() == ".sm90a") stem = stem.stem();
    const auto op = entry.path().parent_path().parent_path().filename();
    files.insert(op.string() + "/" + stem.string());
  }
  for (const ladder::AnyRung& rung : ladder::all_rungs()) {
    if (rung.is_dispatch()) continue;
    rungs.insert(rung.full_name());
    const int flavours = bool{rung.launcher(runtime::Flavour::plain)} +
                         bool{rung.launcher(runtime::Flavour::counted)};
    EXPECT_EQ(flavours, rung.on_host ? 1 : 2) << rung.full_name();
    EXPECT_FALSE(rung.idea.empty()) << rung.full_name();
    EXPECT_FALSE(rung.accepts.empty()) << rung.full_name();
    EXPECT_TRUE(rung.predict || rung.on_host) << rung.full_name() << " predicts nothing";
  }
  EXPECT_EQ(rungs, files);
}

TEST(Ladder, SaysWhatAGpuLacks) {
  const auto why_not = [](const char* op, const char* id, int capability, int shared_kb) {
    runtime::Machine m;
    m.capability = capability;
    m.shared_bytes_per_block = shared_kb << 10;
    return ladder::why_not(ladder::find_rung(op, id), m);
  };
  EXPECT_EQ(why_not("spmv", "09_sorted", 80, 163), "");
  EXPECT_EQ(why_not("spmv", "09_sorted", 75, 163),
            "it needs compute capability 8.0; this GPU runs code for compute capability 7.5");
  EXPECT_EQ(why_not("spmv", "09_sorted", 86, 99),
            "its blocks need 163 KB of shared memory; this GPU has 99");
  EXPECT_EQ(why_not("spmv", "01_scalar", 75, 64), "");
  EXPECT_EQ(why_not("sgemm", "tc_10_full_range", 90, 227), "");
  for (const int capability : {75, 80, 100, 120}) {
    EXPECT_NE(why_not("sgemm", "tc_10_full_range", capability, 227).find("9.0 alone"),
              std::string::npos);
  }
}

// A GPU whose driver compiles PTX is what that PTX was compiled for.
TEST(Ladder, SaysThatHopperCodeDoesNotRun) {
  runtime::Machine m;
  m.hopper_code = false;
  const ladder::AnyRung &hopper = ladder::find_rung("sgemm", "tc_10_full_range"),
                        &other = ladder::find_rung("sgemm", "tc_13_mma_sync");
  EXPECT_EQ(ladder::why_not(hopper, m),
            "its machine code, for compute capability 9.0a, does not run here");
  EXPECT_EQ(ladder::why_not(other, m), "");
}

TEST(Ladder, RungsHaveOperators) {
  for (const ladder::AnyRung& rung : ladder::all_rungs()) {
    EXPECT_NO_THROW(ops::find_operator(rung.op)) << rung.op;
  }
}

}  // namespace
}  // namespace warpladder
