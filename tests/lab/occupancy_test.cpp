// Values worked out by hand from the limits of compute capability 9.0. An SM has 64 warps, 32
// blocks, 65,536 registers and 228 KiB of shared memory, of which every block takes 1 KiB for
// itself.

#include "lab/occupancy.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/error.hpp"
#include "lab/gpus.hpp"

namespace warpladder::lab {
namespace {

void expect(const KernelResources& kernel, unsigned blocks, unsigned warps, Limiter limiter) {
  const Occupancy o = occupancy(kernel);
  EXPECT_EQ(o.blocks, blocks) << name(o.limiter);
  EXPECT_EQ(o.warps, warps);
  EXPECT_EQ(o.limiter, limiter) << name(o.limiter);
}

TEST(Occupancy, WarpsLimitLargeBlocks) {
  expect({256, 0, {}}, 8, 64, Limiter::warps);
  expect({1024, 0, {}}, 2, 64, Limiter::warps);
  expect({768, 0, {}}, 2, 48, Limiter::warps);   // 24 warps: a third block would make 72
  expect({1000, 0, {}}, 2, 64, Limiter::warps);  // 31.25 warps are 32
  EXPECT_EQ(occupancy({768, 0, {}}).share(), 0.75);
}

TEST(Occupancy, BlocksLimitSmallOnes) {
  expect({32, 0, {}}, 32, 32, Limiter::blocks);
  expect({1, 0, {}}, 32, 32, Limiter::blocks);
  expect({64, 0, {}}, 32, 64, Limiter::warps);  // both at 32 blocks; nothing is to be gained
}

TEST(Occupancy, SharedMemoryLimits) {
  // 228 KiB / (32 + 1) KiB = 6.9.
  expect({128, 32 * 1024, {}}, 6, 24, Limiter::shared_memory);
  // 3 · (75 + 1) KiB is exactly all there is; one byte more takes another 128.
  expect({128, 75 * 1024, {}}, 3, 12, Limiter::shared_memory);
  expect({128, 75 * 1024 + 1, {}}, 2, 8, Limiter::shared_memory);
  // The largest block alone, and one too large.
  expect({128, 227 * 1024, {}}, 1, 4, Limiter::shared_memory);
  expect({128, 227 * 1024 + 1, {}}, 0, 0, Limiter::shared_memory);
}

TEST(Occupancy, RegistersLimit) {
  // 128 · 32 = 4,096 a warp; 16,384 a partition hold 4 such warps, the SM 16.
  expect({256, 0, 128}, 2, 16, Limiter::registers);
  // 33 are handed out as 40: 1,280 a warp, 12 warps a partition, 48 an SM.
  expect({256, 0, 33}, 6, 48, Limiter::registers);
  expect({256, 0, 40}, 6, 48, Limiter::registers);
  expect({256, 0, 41}, 5, 40, Limiter::registers);  // 48: 10 warps a partition
  expect({256, 0, 32}, 8, 64, Limiter::warps);      // 1,024 a warp: 64 warps
  // 168 · 32 = 5,376: 3 warps a partition, 12 an SM, one block of 12 warps (CUTLASS's 384 threads).
  expect({384, 0, 168}, 1, 12, Limiter::registers);
}

TEST(Occupancy, RegistersCanForbidTheLaunch) {
  expect({1024, 0, 64}, 1, 32, Limiter::registers);  // 32 warps · 2,048 = 65,536
  expect({1024, 0, 65}, 0, 0, Limiter::registers);
  expect({32, 0, 255}, 8, 8, Limiter::registers);
  expect({32, 0, 256}, 0, 0, Limiter::registers);
  // 29 warps are checked as 32: 32 · 2,304 = 73,728 are too many, though 29 would take 66,816
  // anyway. And 25 are checked as 28: 28 · 2,304 = 64,512 pass.
  expect({29 * 32, 0, 72}, 0, 0, Limiter::registers);
  expect({25 * 32, 0, 72}, 1, 25, Limiter::registers);
}

TEST(Occupancy, TheLeastLimitIsNamed) {
  expect({256, 48 * 1024, 64}, 4, 32, Limiter::shared_memory);  // 4 by both; what comes first stays
  expect({256, 40 * 1024, 64}, 4, 32, Limiter::registers);      // 5 by shared memory
  expect({256, 60 * 1024, 64}, 3, 24, Limiter::shared_memory);
}

TEST(Occupancy, NoSuchBlock) {
  expect({0, 0, {}}, 0, 0, Limiter::warps);
  expect({1025, 0, {}}, 0, 0, Limiter::warps);
}

TEST(Occupancy, UnknownRegistersGiveAnUpperBound) {
  for (const unsigned threads : {32u, 100u, 256u, 512u, 1024u}) {
    for (const std::size_t shared : {std::size_t{0}, std::size_t{20000}, std::size_t{100000}}) {
      const unsigned bound = occupancy({threads, shared, {}}).blocks;
      for (unsigned registers = 1; registers <= 256; ++registers) {
        EXPECT_LE(occupancy({threads, shared, registers}).blocks, bound);
      }
    }
  }
}

// 48 warps of 8.6 are six blocks of 256; 100 KiB hold three blocks of (32 + 1) KiB. 7.5 has 32
// warps, and its driver takes no shared memory for itself.
TEST(Occupancy, OfOtherArchitectures) {
  EXPECT_EQ(occupancy({256, 0, {}}, *sm_of("86")).blocks, 6u);
  EXPECT_EQ(occupancy({256, 0, {}}, *sm_of("86")).share(), 1);
  EXPECT_EQ(occupancy({128, 32 * 1024, {}}, *sm_of("86")).blocks, 3u);
  EXPECT_EQ(occupancy({256, 0, {}}, *sm_of("75")).blocks, 4u);
  EXPECT_EQ(occupancy({32, 0, {}}, *sm_of("75")).blocks, 16u);
  EXPECT_EQ(occupancy({128, 16 * 1024, {}}, *sm_of("75")).blocks, 4u);
  EXPECT_EQ(occupancy({128, 163 * 1024, {}}, *sm_of("80")).blocks, 1u);
  EXPECT_EQ(occupancy({128, 0, 128}, *sm_of("90a")).blocks, 4u);
  EXPECT_FALSE(sm_of("12"));
}

// 48 warps, 24 blocks and 100 KiB of shared memory: compute capability 8.9.
TEST(Occupancy, IsThatOfTheGpu) {
  const Sm& sm = find_gpu("4090").sm;
  EXPECT_EQ(occupancy({256, 0, {}}, sm).blocks, 6u);
  EXPECT_EQ(occupancy({256, 0, {}}, sm).share(), 1);
  EXPECT_EQ(occupancy({1024, 0, {}}, sm).share(), 32.0 / 48);
  EXPECT_EQ(occupancy({32, 0, {}}, sm).blocks, 24u);
  EXPECT_EQ(occupancy({32, 48 * 1024, {}}, sm).blocks, 2u);
  EXPECT_EQ(occupancy({32, 100 * 1024, {}}, sm).blocks, 0u);  // a block may ask for 99
}

TEST(Gpus, HaveTheRatesOfTheirDataSheets) {
  for (const auto& [key, tera_flops] : {std::pair{"h100", 66.9},
                                        {"a100", 19.5},
                                        {"a10", 31.2},
                                        {"3090", 35.6},
                                        {"l4", 30.3},
                                        {"l40s", 91.6},
                                        {"4090", 82.6},
                                        {"5090", 104.8}}) {
    EXPECT_NEAR(find_gpu(key).fp32_flops_per_s() * 1e-12 / tera_flops, 1, 5e-3) << key;
  }
  for (const Gpu& gpu : gpus()) {
    EXPECT_EQ(&find_gpu(gpu.key), &gpu);
    EXPECT_EQ(gpu.machine.fp32_flops_per_s, gpu.fp32_flops_per_s());
    EXPECT_GT(gpu.dram_bytes_per_s, 0);
  }
  EXPECT_EQ(default_gpu().key, std::string("h200"));
  EXPECT_THROW(find_gpu("h300"), Error);
}

}  // namespace
}  // namespace warpladder::lab
