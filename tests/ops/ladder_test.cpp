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

TEST(Ladder, RungsHaveOperators) {
  for (const ladder::AnyRung& rung : ladder::all_rungs()) {
    EXPECT_NO_THROW(ops::find_operator(rung.op)) << rung.op;
  }
}

}  // namespace
}  // namespace warpladder
