// The same bits and the same counts, whatever the number of OS threads, and from run to run.

#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "base/parallel.hpp"
#include "executor/executor.hpp"
#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr unsigned kThreadCounts[] = {1, 2, 3, 7};

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  for (const float v : values) result.push_back(std::bit_cast<std::uint32_t>(v));
  return result;
}

std::vector<float> uneven(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = std::ldexp(1.0f + static_cast<float>(i * 2654435761u % 8191) / 8192.0f,
                           static_cast<int>(i % 23) - 11);
  }
  return values;
}

class Determinism : public ::testing::TestWithParam<Flavour> {};
INSTANTIATE_TEST_SUITE_P(Flavours, Determinism, ::testing::Values(Flavour::plain, Flavour::counted),
                         [](const auto& flavour) { return name_of(flavour.param); });

TEST_P(Determinism, FloatSumsAcrossBlocksAreBitwiseEqual) {
  constexpr unsigned kBlocks = 150;
  const Buffer<float> in(Target::cpu, uneven(5000));
  std::vector<std::uint32_t> first_sums, first_found;
  for (const unsigned threads : kThreadCounts) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      Buffer<float> sums(Target::cpu, std::vector<float>(9)), found(Target::cpu, 8 * kBlocks);
      device::Stream stream(Target::cpu);
      stream.executor_threads = threads;
      run(stream, GetParam(), "race_for_sums", {{kBlocks}, {96}}, in, sums, found, 5000);
      if (first_sums.empty()) {
        first_sums = bits(sums.download());
        first_found = bits(found.download());
      }
      EXPECT_EQ(bits(sums.download()), first_sums) << threads << " threads";
      EXPECT_EQ(bits(found.download()), first_found) << threads << " threads";
    }
  }
}

TEST_P(Determinism, BlocksTakeTheirTurnsInOrder) {
  constexpr unsigned kBlocks = 200;
  std::vector<int> in_order(kBlocks);
  std::iota(in_order.begin(), in_order.end(), 0);
  for (const unsigned threads : kThreadCounts) {
    Buffer<int> next(Target::cpu, std::vector<int>{0}), holder(Target::cpu, kBlocks);
    device::Stream stream(Target::cpu);
    stream.executor_threads = threads;
    run(stream, GetParam(), "take_tickets", {{kBlocks}, {64}}, next, holder);
    EXPECT_EQ(holder.download(), in_order) << threads << " threads";
  }
}

// Kernels with divergence, shared memory, atomics and exchanges, each over many blocks.
TEST(Counts, AreTheSameForAnyNumberOfThreads) {
  const Buffer<float> in(Target::cpu, whole_numbers(1 << 16));
  Buffer<float> out(Target::cpu, 1 << 16), more(Target::cpu, 1 << 16);
  Buffer<int> ints(Target::cpu, std::vector<int>(1 << 16, 1)), int_out(Target::cpu, 1 << 16);
  const std::pair<const char*, Arguments> launches[] = {
      {"tiled<16>", arguments_of({{8, 8}, {16, 16}}, in, in, out, 128)},
      {"transpose<0>", arguments_of({{4, 4}, {32, 8}}, in, out, 128)},
      {"nested_loops", arguments_of({{64}, {96}}, in, out)},
      {"long_nest", arguments_of({{5}, {64}}, in, out, 700)},
      {"shuffled_block_sums", arguments_of({{64}, {1024}}, ints, int_out)},
      {"race_for_sums", arguments_of({{60}, {96}}, in, out, more, 5000)},
  };
  for (const auto& [kernel, arguments] : launches) {
    std::vector<executor::KernelCounts> counts;
    for (const unsigned threads : kThreadCounts) {
      device::Stream stream(Target::cpu);
      stream.executor_threads = threads;
      stream.record_counts = &counts;
      launch(stream, Flavour::counted, kernel, arguments);
    }
    ASSERT_EQ(counts.size(), std::size(kThreadCounts));
    EXPECT_FALSE(counts[0].accesses.empty()) << kernel;
    EXPECT_EQ(counts[0].grid, arguments.grid);
    EXPECT_EQ(counts[0].block, arguments.block);
    EXPECT_EQ(counts[0].kernel, std::string("kernel_tests::") + kernel);
    for (const executor::KernelCounts& c : counts) EXPECT_TRUE(c == counts[0]) << kernel;
  }
}

// What launches give that a host thread makes.
struct Given {
  std::vector<std::uint32_t> sums, found, transposed;
  std::vector<unsigned> neighbours;
  std::vector<executor::KernelCounts> counts;
  std::string fault;
  bool operator==(const Given&) const = default;
};

Given launch_all(unsigned threads) {
  constexpr unsigned kBlocks = 60;
  const Buffer<float> in(Target::cpu, uneven(5000));
  Buffer<float> sums(Target::cpu, std::vector<float>(9)), found(Target::cpu, 8 * kBlocks);
  Buffer<float> transposed(Target::cpu, 64 * 64);
  Buffer<unsigned> neighbours(Target::cpu, 6 * 64);
  Buffer<int> cells(Target::cpu, std::vector<int>(64));
  Given given;
  device::Stream stream(Target::cpu);
  stream.executor_threads = threads;
  stream.record_counts = &given.counts;
  run(stream, Flavour::counted, "race_for_sums", {{kBlocks}, {96}}, in, sums, found, 5000);
  run(stream, Flavour::counted, "transpose<0>", {{2, 2}, {32, 8}}, in, transposed, 64);
  run(stream, Flavour::counted, "ask_the_neighbour", {{6}, {64}, 1024, 2}, neighbours, 2);
  try {
    run(stream, Flavour::counted, "fault_amid_atomics", {{40}, {1}}, cells, 9);
  } catch (const executor::KernelFault& fault) {
    given.fault = fault.what();
  }
  given.sums = bits(sums.download());
  given.found = bits(found.download());
  given.transposed = bits(transposed.download());
  given.neighbours = neighbours.download();
  return given;
}

// Launches that run at the same time share the executor's threads, and nothing else.
TEST(HostThreads, LaunchAtOnceAsEachAlone) {
  const Given alone = launch_all(1);
  EXPECT_EQ(alone.counts.size(), 3u);
  EXPECT_NE(alone.fault, "");
  for (const bool counts_as_busy : {false, true}) {
    for (const unsigned threads : kThreadCounts) {
      std::atomic<int> wrong{0}, launched{0};
      run_on_threads(3, [&] {
        std::optional<executor::BusyThread> busy;
        if (counts_as_busy) busy.emplace();
        for (int repeat = 0; repeat < 10; ++repeat, ++launched)
          wrong += launch_all(threads) != alone;
      });
      EXPECT_EQ(wrong, 0) << threads << " threads";
      EXPECT_EQ(launched, 30);
    }
  }
}

// Counting is off unless it is asked for, and the checks of shared memory change no count.
TEST(Counts, DoNotDependOnTheChecks) {
  const Buffer<float> in(Target::cpu, whole_numbers(64 * 64));
  Buffer<float> out(Target::cpu, 64 * 64);
  std::vector<executor::KernelCounts> counts;
  device::Stream stream(Target::cpu);
  run(stream, Flavour::counted, "transpose<0>", {{2, 2}, {32, 8}}, in, out, 64);
  stream.record_counts = &counts;
  for (const bool check : {true, false}) {
    stream.check_shared_memory = check;
    run(stream, Flavour::counted, "transpose<0>", {{2, 2}, {32, 8}}, in, out, 64);
  }
  run(stream, Flavour::plain, "transpose<0>", {{2, 2}, {32, 8}}, in, out, 64);
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_TRUE(counts[0] == counts[1]);
}

}  // namespace
}  // namespace warpladder::kernel_tests
