// Registers and static shared memory without nvcc: the shipped table, and names of kernels.

#include "lab/known_resources.hpp"

#include <gtest/gtest.h>

#include <set>

#include "lab/gpus.hpp"
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
  EXPECT_NE(plain_kernel_name("fold<mine::Sum>"), plain_kernel_name("fold<yours::Sum>"));
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
    const std::string what = row.rung + " " + row.kernel + " " + row.resources.architecture;
    EXPECT_TRUE(seen.insert(what).second) << what;
    EXPECT_GT(row.resources.registers, 0u) << row.rung;
    EXPECT_LE(row.resources.registers, 255u) << row.rung;
  }
}

TEST(ShippedResources, ReachTheRungsOccupancy) {
  Explanation e = explain(select_one("transpose/04_padded"), {64, 64}, "", {1});
  add_shipped_resources(e);
  ASSERT_TRUE(e.compiled_of(e.launches.at(0).kernel, *e.gpu)) << e.launches.at(0).kernel;
  // 32 rows of 33 floats.
  EXPECT_EQ(e.compiled_of(e.launches[0].kernel, *e.gpu)->static_shared_bytes, 32u * 33 * 4);
}

TEST(ShippedResources, AreOfTheGpusArchitecture) {
  const auto rows = parse_shipped_resources(
      "x/01\tx::k<1>\tsm_80\t32\t512\nx/01\tx::k<1>\tsm_90a\t40\t1024\nx/01\ttoo few\t1\n");
  ASSERT_EQ(rows.size(), 2u);
  Explanation e;
  for (const ShippedResources& row : rows) e.compiled.emplace(row.kernel, row.resources);
  for (const auto& [gpu, registers] : {std::pair("a100", 32u), {"4090", 32u}, {"h100", 40u}}) {
    const CompiledResources* const found = e.compiled_of("k<1>", find_gpu(gpu));
    ASSERT_TRUE(found) << gpu;
    EXPECT_EQ(found->registers, registers) << gpu;
  }
  for (const Gpu& gpu : gpus()) {
    if (gpu.machine.capability < 80 || gpu.machine.capability > 90) {
      EXPECT_FALSE(e.compiled_of("k<1>", gpu)) << gpu.key;
    }
  }
}

TEST(CubinResources, GoToTheKernelOfTheirName) {
  Explanation e;
  e.launches = {launch("k"), launch("other")};
  EXPECT_TRUE(add_resources(e, {{"_Z1kPf", 10, 400}, {"_Z4nonePf", 12, 0}}, "x"));
  ASSERT_TRUE(e.compiled_of("k", *e.gpu));
  EXPECT_EQ(e.compiled_of("k", *e.gpu)->registers, 10u);
  EXPECT_FALSE(e.compiled_of("other", *e.gpu));
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
