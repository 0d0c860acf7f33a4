// Registers and static shared memory without nvcc: the shipped table, and names of kernels.

#include "lab/known_resources.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ladder/ladder.hpp"

namespace warpladder::lab {
namespace {

executor::KernelCounts launch(const std::string& kernel) {
  executor::KernelCounts k;
  k.kernel = kernel;
  k.block = {32, 1, 1};
  return k;
}

TEST(KernelNames, OfOneKernelAreAlike) {
  for (const char* name : {"void warpladder::sgemm::(anonymous namespace)::multiply<1, 2>(Gemm)",
                           "multiply<1, 2>", "counted::multiply<1,2>", "multiply<1, 2>(int*)"}) {
    EXPECT_EQ(plain_kernel_name(name), "multiply<1,2>") << name;
  }
  EXPECT_EQ(plain_kernel_name("fold<warpladder::gpu::Sum, 4>"), "fold<Sum,4>");
}

TEST(ShippedResources, EachRowIsOfARungOfOurs) {
  std::set<std::string> rungs, seen;
  for (const char* op :
       {"sgemm", "transpose", "reduce", "sgemv", "spmv", "vector_add", "reduce_axis", "warp"}) {
    for (const ladder::AnyRung* rung : ladder::rungs_of(op)) rungs.insert(rung->full_name());
  }
  const auto rows = parse_shipped_resources(shipped_table());
  EXPECT_FALSE(rows.empty());
  for (const ShippedResources& row : rows) {
    EXPECT_TRUE(rungs.contains(row.rung)) << row.rung;
    EXPECT_TRUE(seen.insert(row.rung + " " + row.kernel).second) << row.rung << " " << row.kernel;
    EXPECT_GT(row.resources.registers, 0u) << row.rung;
    EXPECT_LE(row.resources.registers, 255u) << row.rung;
  }
}

TEST(ShippedResources, ReachTheRungsOccupancy) {
  Explanation e = explain(select_one("transpose/04_padded"), {64, 64}, "", {1});
  add_shipped_resources(e);
  ASSERT_TRUE(e.compiled_of(e.launches.at(0).kernel)) << e.launches.at(0).kernel;
  // 32 rows of 33 floats.
  EXPECT_EQ(e.compiled_of(e.launches[0].kernel)->static_shared_bytes, 32u * 33 * 4);
}

TEST(CubinResources, GoToTheKernelOfTheirName) {
  Explanation e;
  e.launches = {launch("k"), launch("other")};
  EXPECT_TRUE(add_resources(e, {{"_Z1kPf", 10, 400}, {"_Z4nonePf", 12, 0}}, "x"));
  ASSERT_TRUE(e.compiled_of("k"));
  EXPECT_EQ(e.compiled_of("k")->registers, 10u);
  EXPECT_FALSE(e.compiled_of("other"));
  EXPECT_FALSE(add_resources(e, {{"_Z4nonePf", 12, 0}}, "x"));
}

TEST(CubinResources, AnAmbiguousNameTellsNothing) {
  Explanation e;
  e.launches = {launch("scale")};
  // scale<1> and scale<2>.
  EXPECT_FALSE(add_resources(e, {{"_Z5scaleILi1EEvv", 10, 0}, {"_Z5scaleILi2EEvv", 20, 0}}, "x"));
  EXPECT_TRUE(add_resources(e, {{"_Z5scaleILi1EEvv", 10, 0}}, "x"));
}

}  // namespace
}  // namespace warpladder::lab
