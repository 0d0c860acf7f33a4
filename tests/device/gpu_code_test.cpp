// Which code runs on made-up GPUs, and what a better build would be.

#include "device/gpu_code.hpp"

#include <gtest/gtest.h>

namespace warpladder::device {
namespace {

const std::vector<int> kEvery{75, 80, 86, 89, 90, 100, 120};

TEST(GpuCode, NamesMachineCodeWhereItFits) {
  EXPECT_EQ(what_runs({90, 90, true, {90}}),
            "machine code for compute capability 9.0, and that for Hopper's own instructions");
  EXPECT_EQ(what_runs({90, 90, false, {90}}),
            "machine code for compute capability 9.0, and none for Hopper's own instructions");
  EXPECT_EQ(what_runs({89, 89, false, kEvery}), "machine code for compute capability 8.9");
  EXPECT_EQ(what_runs({87, 86, false, kEvery}), "machine code for compute capability 8.6");
}

TEST(GpuCode, NamesPtxWhereNoMachineCodeFits) {
  EXPECT_EQ(what_runs({89, 80, false, {}}),
            "PTX for compute capability 8.0, which the driver compiles");
  EXPECT_EQ(what_runs({121, 90, false, {90}}),
            "PTX for compute capability 9.0, which the driver compiles");
  EXPECT_EQ(what_runs({80, 75, false, {86}}),
            "PTX for compute capability 7.5, which the driver compiles");
  EXPECT_EQ(what_runs({90, 90, false, {90}, true}),
            "PTX for compute capability 9.0, which the driver compiles, and none for Hopper's own "
            "instructions");
}

TEST(GpuCode, KnowsABetterBuild) {
  for (const GpuCode& best : {GpuCode{90, 90, true, {90}}, GpuCode{75, 75, false, kEvery},
                              GpuCode{87, 86, false, kEvery}, GpuCode{103, 100, false, kEvery},
                              GpuCode{120, 120, false, kEvery}, GpuCode{110, 100, false, kEvery}}) {
    EXPECT_FALSE(better_code(best)) << best.gpu;
  }
  const auto remedy = [](const GpuCode& code) {
    const auto better = better_code(code);
    return better ? better->remedy : "";
  };
  EXPECT_EQ(remedy({90, 90, false, {90}}), "cmake -DWARPLADDER_ARCHITECTURES='90;90a'");
  EXPECT_EQ(remedy({90, 80, false, {}}), "cmake -DWARPLADDER_ARCHITECTURES='90;90a'");
  EXPECT_EQ(remedy({80, 80, false, {}}), "cmake -DWARPLADDER_ARCHITECTURES='80'");
  EXPECT_EQ(remedy({89, 80, false, {80}}), "cmake -DWARPLADDER_ARCHITECTURES='89'");
  EXPECT_EQ(remedy({121, 90, false, {90}}), "cmake -DWARPLADDER_ARCHITECTURES='120'");
  EXPECT_EQ(remedy({90, 90, false, {90}, true}), "unset CUDA_FORCE_PTX_JIT");
  EXPECT_NE(better_code({89, 80, false, {}})->what.find("8.9: this GPU runs PTX"),
            std::string::npos);
}

}  // namespace
}  // namespace warpladder::device
