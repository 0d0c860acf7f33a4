#include "base/suggest.hpp"

#include <gtest/gtest.h>

namespace warpladder {
namespace {

using Names = std::vector<std::string>;

const Names kVerbs{"list", "doctor", "run", "verify", "bench", "explain"};
const Names kRungs{"sgemm/row_01_naive", "sgemm/row_02_block_tile", "sgemm/col_01_naive"};

TEST(Suggest, FindsWhatFewChangesLeadTo) {
  EXPECT_EQ(nearest("lst", kVerbs), Names{"list"});
  EXPECT_EQ(nearest("vreify", kVerbs), Names{"verify"});
  EXPECT_EQ(nearest("benchh", kVerbs), Names{"bench"});
  EXPECT_EQ(nearest("gemm", {"sgemm", "sgemv", "spmv"}), Names{"sgemm"});
}

TEST(Suggest, FindsAPartOfAName) {
  EXPECT_EQ(nearest("sgemm/naive", kRungs), (Names{"sgemm/row_01_naive", "sgemm/col_01_naive"}));
  EXPECT_EQ(nearest("sgemm/row_02", kRungs), Names{"sgemm/row_02_block_tile"});
  EXPECT_EQ(nearest("naive", kRungs, 1), Names{"sgemm/row_01_naive"});
}

TEST(Suggest, LeavesOutWhatIsMuchFartherThanTheClosest) {
  EXPECT_EQ(nearest("transpose/04_paded", {"transpose/01_naive", "transpose/04_padded"}),
            Names{"transpose/04_padded"});
}

TEST(Suggest, IsSilentWhereNothingIsClose) {
  EXPECT_EQ(nearest("q", {"m", "n", "k"}), Names{});
  EXPECT_EQ(nearest("frobnicate", kVerbs), Names{});
  EXPECT_EQ(nearest("", kVerbs), Names{});
  EXPECT_EQ(nearest(std::string(5000, 'a'), kVerbs), Names{});
  EXPECT_EQ(did_you_mean("frobnicate", kVerbs), "");
}

TEST(Suggest, MakesASentence) {
  EXPECT_EQ(did_you_mean("lst", kVerbs), "; did you mean list?");
  EXPECT_EQ(did_you_mean("sgemm/naive", kRungs),
            "; did you mean sgemm/row_01_naive or sgemm/col_01_naive?");
}

TEST(Suggest, NamesAllThatAreKnownButTheEmptyOne) {
  EXPECT_EQ(known_names("inplace", {"", "in_place"}), "in_place; did you mean in_place?");
  EXPECT_EQ(known_names("x", {"", "in_place"}), "in_place");
  EXPECT_EQ(known_names("menn", {"sum", "mean"}), "sum, mean; did you mean mean?");
}

}  // namespace
}  // namespace warpladder
