// mbarriers, the copy engine and clusters, each against what one can say by hand.

#include <algorithm>
#include <cstring>

#include "kernels/counting.hpp"
#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

class Async : public EveryFlavour {
 protected:
  runtime::TensorMap map_of(const void* data, int element_bytes, std::int64_t rows,
                            std::int64_t columns, std::int64_t row_elements, int box_rows,
                            int box_columns = 0) const {
    return device::encode(
        target(), {data, element_bytes, rows, columns, row_elements, box_rows, box_columns});
  }
};
WARPLADDER_IN_EVERY_FLAVOUR(Async);

TEST_P(Async, PhasesAlternate) {
  for (const int size : {32, 96, 250}) {
    constexpr int kLines = 7;
    const std::vector<float> in = whole_numbers(static_cast<std::size_t>(kLines * size), 1000);
    std::vector<float> expected;
    for (int line = 0; line < kLines; ++line) {
      for (int i = size; i-- > 0;)
        expected.push_back(in[static_cast<std::size_t>(line * size + i)]);
    }
    const Buffer<float> from(target(), in);
    Buffer<float> to(target(), in.size());
    run("reverse_by_phases", {{1}, {static_cast<unsigned>(size)}, 16 + 4 * 250}, from, to, kLines);
    EXPECT_EQ(to.download(), expected) << size;
  }
}

TEST_P(Async, WarpsMeetAtNamedBarriers) {
  Buffer<float> out(target(), 128);
  run("hand_on_by_named_barriers", {{1}, {128}, 1024}, out);
  const std::vector<float> got = out.download();
  for (std::size_t t = 0; t < got.size(); ++t) EXPECT_EQ(got[t], static_cast<float>(t / 32)) << t;
}

TEST_P(Async, OneLaneMayWaitWhereTheRestDoesNot) {
  Buffer<float> out(target(), 65);
  run("one_lane_waits", {{1}, {96}, 1024}, out);
  const std::vector<float> got = out.download();
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(got[static_cast<std::size_t>(lane)], 32 + lane);
    EXPECT_EQ(got[static_cast<std::size_t>(32 + lane)], 2 * (32 + lane));
  }
  EXPECT_EQ(got[64], 1.0f);
}

// Element bytes of a matrix whose words are all different, rows padded to `row_elements`.
std::vector<unsigned char> numbered(std::int64_t rows, std::int64_t row_bytes) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(rows * row_bytes));
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto number = static_cast<std::uint16_t>(i / 2 + 1);
    std::memcpy(&bytes[i], &number, 2);
  }
  return bytes;
}

struct Box {
  int element_bytes, rows, columns, row_elements, box_rows, row, column;
  int box_columns = 0;  // 0: 128 bytes, swizzled
};
void PrintTo(const Box& b, std::ostream* out) {
  *out << b.box_rows << " rows from (" << b.row << "," << b.column << ") of " << b.rows << "x"
       << b.columns << " elements of " << b.element_bytes << " bytes";
}
const Box kBoxes[] = {
    {4, 64, 64, 64, 8, 0, 0},       // the corner
    {4, 64, 64, 64, 64, 0, 32},     // the right half
    {2, 64, 128, 136, 16, 24, 64},  // halves, padded rows
    {4, 61, 45, 48, 16, 56, 32},    // beyond both ends
    {2, 20, 75, 80, 16, 8, 64},     // of halves too
    {4, 16, 32, 32, 16, -3, -8},    // before both
    {4, 16, 32, 32, 8, 16, 0},      // wholly below
    {4, 16, 32, 32, 8, 0, -32},     // wholly to the left
    {4, 300, 33, 36, 256, 20, 4},   // the largest
    {4, 61, 45, 48, 16, 0, 4, 36},  // rows as they are
    {4, 61, 45, 48, 16, 56, 32, 132}, {2, 20, 75, 80, 8, -3, -8, 40},
    {2, 20, 300, 304, 4, 0, 8, 256},  // the longest
};

TEST_P(Async, ABoxLiesSwizzledOrAsItIs) {
  for (const Box& b : kBoxes) {
    const std::vector<unsigned char> in = numbered(b.rows, b.row_elements * b.element_bytes);
    // Each element to the place that the words of device/tensor_map.hpp give it.
    const bool swizzled = b.box_columns == 0;
    const int in_line = swizzled ? 128 / b.element_bytes : b.box_columns,
              line = in_line * b.element_bytes;
    std::vector<unsigned char> expected(static_cast<std::size_t>(b.box_rows) * line);
    for (int r = 0; r < b.box_rows; ++r) {
      for (int e = 0; e < in_line; ++e) {
        const int row = b.row + r, column = b.column + e;
        if (row < 0 || row >= b.rows || column < 0 || column >= b.columns) continue;
        const int piece = e * b.element_bytes / 16, within = e * b.element_bytes % 16;
        const int to = r * line + (swizzled ? piece ^ (r % 8) : piece) * 16 + within;
        const int from = (row * b.row_elements + column) * b.element_bytes;
        std::copy_n(in.begin() + from, b.element_bytes, expected.begin() + to);
      }
    }
    const Buffer<unsigned char> matrix(target(), in);
    Buffer<unsigned> out(target(), expected.size() / 4);
    const auto map = map_of(matrix.data(), b.element_bytes, b.rows, b.columns, b.row_elements,
                            b.box_rows, b.box_columns);
    std::vector<unsigned> words(expected.size() / 4);
    run("copy_box", {{1}, {64}, expected.size() + 8}, map, out, static_cast<int>(words.size()),
        b.row, b.column);
    std::memcpy(words.data(), expected.data(), expected.size());
    EXPECT_EQ(out.download(), words) << ::testing::PrintToString(b);
  }
}

TEST_P(Async, ARingOfStagesKeepsTheOrder) {
  for (const int boxes : {1, 2, 3, 4, 20, 41}) {
    for (const unsigned blocks : {1u, 3u}) {
      const std::vector<float> in = whole_numbers(static_cast<std::size_t>(boxes) * 256, 1 << 20);
      const Buffer<float> matrix(target(), in);
      Buffer<float> out(target(), in.size());
      run("ring", {{blocks}, {96}, 3 * 1024 + 6 * 8},
          map_of(matrix.data(), 4, boxes * 8, 32, 32, 8), out, boxes);
      EXPECT_EQ(out.download(), in) << boxes << " boxes, " << blocks << " blocks";
    }
  }
}

TEST_P(Async, ABoxGoesToAllBlocksOfACluster) {
  for (const unsigned cluster : {1u, 2u, 4u}) {
    const unsigned blocks = 2 * cluster;
    const std::vector<float> in = whole_numbers(blocks * std::size_t{256}, 1 << 20);
    const Buffer<float> matrix(target(), in);
    Buffer<unsigned> out(target(), blocks * cluster * std::size_t{256});
    const Shape shape{{blocks}, {64}, cluster * 1024 + 8, cluster};
    run("multicast", shape, map_of(matrix.data(), 4, blocks * 8, 32, 32, 8), out,
        static_cast<int>(cluster));
    const std::vector<unsigned> got = out.download();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t block = i / (cluster * 256), line = i % (cluster * 256) / 32, word = i % 32;
      const std::size_t first_line = block / cluster * cluster * 8;
      const std::size_t straight = (word / 4 ^ line % 8) * 4 + word % 4;
      float value;
      std::memcpy(&value, &got[i], 4);
      ASSERT_EQ(value, in[(first_line + line) * 32 + straight]) << i << " of " << cluster;
    }
  }
}

TEST_P(Async, BlocksOfAClusterReachEachOther) {
  for (const unsigned cluster : {1u, 2u, 3u, 8u}) {
    for (const unsigned threads : {32u, 48u, 128u}) {
      const runtime::Dim3 grid{2 * cluster, 3};
      Buffer<int> out(target(), grid.count() * threads);
      run("ask_the_neighbour", {grid, {threads}, 1024, cluster}, out, static_cast<int>(cluster));
      const std::vector<int> got = out.download();
      for (std::size_t i = 0; i < got.size(); ++i) {
        const auto block = static_cast<unsigned>(i / threads);
        const unsigned first = block / cluster * cluster;
        const unsigned next = first + (block - first + 1) % cluster;
        ASSERT_EQ(got[i], static_cast<int>(1000 * next + i % threads)) << cluster << " " << threads;
      }
    }
  }
}

TEST_P(Async, WhatIsHandedToAnotherBlockIsThereAfterItsBarrier) {
  for (const unsigned cluster : {2u, 3u, 8u}) {
    for (const unsigned threads : {32u, 48u, 128u}) {
      const unsigned blocks = 2 * cluster;
      Buffer<float> out(target(), blocks * threads * std::size_t{4});
      run("hand_to_the_neighbour", {{blocks}, {threads}, 4096, cluster}, out,
          static_cast<int>(cluster));
      const std::vector<float> got = out.download();
      for (std::size_t i = 0; i < got.size(); ++i) {
        const auto block = static_cast<unsigned>(i / 4 / threads),
                   thread = static_cast<unsigned>(i / 4 % threads),
                   first = block / cluster * cluster;
        const unsigned before = first + (block - first + cluster - 1) % cluster;
        ASSERT_EQ(got[i], static_cast<float>(1000 * before + threads - 1 - thread) +
                              0.25f * static_cast<float>(i % 4))
            << i << " of " << cluster;
      }
    }
  }
}

// The same results and counts, whatever the number of OS threads.
TEST(AsyncCounts, DoNotDependOnTheNumberOfOsThreads) {
  const std::vector<float> in = whole_numbers(41 * 256, 1 << 20);
  const Buffer<float> matrix(Target::cpu, in);
  const auto map = device::encode(Target::cpu, {matrix.data(), 4, 41 * 8, 32, 32, 8});
  std::vector<executor::KernelCounts> counts;
  for (const unsigned os_threads : {1u, 2u, 5u}) {
    Buffer<float> out(Target::cpu, in.size());
    device::Stream stream(Target::cpu);
    stream.executor_threads = os_threads;
    stream.record_counts = &counts;
    run(stream, Flavour::counted, "ring", {{7}, {96}, 3 * 1024 + 6 * 8}, map, out, 41);
    EXPECT_EQ(out.download(), in);
    EXPECT_EQ(counts.back(), counts.front()) << os_threads;
  }
}

TEST(AsyncCounts, TheCopyEnginesBytesAreCountedAtItsLine) {
  const Buffer<float> matrix(Target::cpu, whole_numbers(64 * 64));
  const auto map = device::encode(Target::cpu, {matrix.data(), 4, 64, 64, 64, 16});
  Buffer<unsigned> out(Target::cpu, 4 * 512);
  // Half of the box lies below the matrix, and is brought as zeros.
  Counted box("semantics_async.sm90a.cu", "copy_box", {{3}, {64}, 2048 + 8}, map, out, 512, 56, 0);
  box.expect_bulk_bytes("box", 3 * 2048);

  const auto map8 = device::encode(Target::cpu, {matrix.data(), 4, 64, 64, 64, 8});
  Counted to_two("semantics_async.sm90a.cu", "multicast", {{4}, {64}, 2048 + 8, 2}, map8, out, 2);
  to_two.expect_bulk_bytes("multicast", 4 * 1024);
}

TEST(AsyncCounts, ABarrierOfAClusterIsABarrierOfItsWarps) {
  Buffer<int> out(Target::cpu, 4 * 48);
  Counted c("semantics_async.sm90a.cu", "ask_the_neighbour", {{4}, {48}, 1024, 2}, out, 2);
  c.expect_barriers("cluster barrier", 4 * 2);
}

}  // namespace
}  // namespace warpladder::kernel_tests
