#include "lab/verify.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/kernel_name.hpp"

namespace warpladder::lab {
namespace {

using Names = std::vector<std::string>;

CaseResult failed(const char* name, double bytes, int line) {
  CaseResult result{name, bytes, 2.0, "wrong", std::nullopt};
  if (line) result.broken = BrokenRule{"a.cu", line, "access out of bounds", "reads 4 bytes"};
  return result;
}

TEST(FailureGroups, AreByLineAndShowTheSmallestCase) {
  VerifyRow row;
  row.cases = {failed("large", 400, 7), {"right", 4, 0.5, "", std::nullopt},
               failed("wrong", 30, 0),  failed("small", 40, 7),
               failed("other", 8, 9),   failed("wrong too", 20, 0)};
  const std::vector<FailureGroup> groups = failure_groups(row);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].smallest->name, "small");
  EXPECT_EQ(groups[0].cases, 2u);
  EXPECT_EQ(groups[1].smallest->name, "wrong too");
  EXPECT_EQ(groups[1].cases, 2u);
  EXPECT_EQ(groups[2].smallest->name, "other");
  EXPECT_EQ(groups[2].cases, 1u);
  EXPECT_EQ(row.failures(), 5u);
}

TEST(FailureGroups, AreNoneWhereAllIsRight) {
  VerifyRow row;
  row.cases = {{"right", 4, 0.5, "", std::nullopt}};
  EXPECT_TRUE(failure_groups(row).empty());
}

Names flavours(Checking checking, const Names& names) {
  VerifyRequest request;
  request.rungs = select_once(names);
  request.checking = checking;
  request.shape = {{2, 2, 2}};
  Names found;
  for (const VerifyRow& row : verify(request)) found.emplace_back(name(row.flavour));
  return found;
}

TEST(Checking, SelectsFlavours) {
  const Names rungs{"sgemm/row_00_serial", "sgemm/row_01_naive"};
  EXPECT_EQ(flavours(Checking::each_access, rungs), (Names{"plain", "counted"}));
  EXPECT_EQ(flavours(Checking::results, rungs), (Names{"plain", "plain"}));
  EXPECT_EQ(flavours(Checking::both, {"sgemm/row_01_naive"}), (Names{"counted", "plain"}));
}

TEST(Selection, TakesPatterns) {
  const auto names_of = [](const std::string& pattern) {
    Names names;
    for (const Selected& s : select_once({pattern})) names.push_back(s.rung->full_name());
    return names;
  };
  EXPECT_EQ(names_of("sgemm/row_0[12]*"), (Names{"sgemm/row_01_naive", "sgemm/row_02_block_tile"}));
  EXPECT_EQ(names_of("*/01_one_per_thread").size(), 1u);
  EXPECT_EQ(names_of("vector_*"), names_of("vector_add"));
  EXPECT_THROW(select_once({"sgemm/rwo_*"}), Error);
}

TEST(KernelName, IsShort) {
  EXPECT_EQ(short_kernel_name("transpose::transpose"), "transpose::transpose");
  EXPECT_EQ(without_namespaces("warpladder::sgemm::gpu::f<sgemm::gpu::Tile<8>, true>"),
            without_namespaces("sgemm::counted::f<sgemm::counted::Tile<8>,true>"));
  EXPECT_EQ(without_namespaces("sgemm::f<4, (Mode)1>"), "sgemm::f<4,(Mode)1>");
  EXPECT_EQ(short_kernel_name("sgemm::multiply<true, false>"), "sgemm::multiply<true, false>");
  EXPECT_EQ(short_kernel_name("reduce::reduce<parts::counted::Sum, reduce::counted::Elements<4> >"),
            "reduce::reduce<…>");
  EXPECT_EQ(short_kernel_name("a::f<parts::counted::Sum>"), "a::f<parts::Sum>");
}

}  // namespace
}  // namespace warpladder::lab
