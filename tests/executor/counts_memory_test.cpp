// Golden counts of access patterns. Each number is derived from the addresses, never copied from
// a run: a sector is 32 bytes, shared memory has 32 banks of 4 bytes.

#include <numeric>

#include "executor/executor.hpp"
#include "kernels/counting.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr const char* kFile = "counts_memory.cu";

// 4 blocks of 64 threads: 8 warps, each asking for 32 neighbours of T.
template <class T>
void expect_copy(const std::string& kernel, int elements, std::uint64_t sectors) {
  const int bytes = static_cast<int>(sizeof(T)) * elements;
  const Buffer<T> in(Target::cpu, std::vector<T>(256 * static_cast<std::size_t>(elements), T{3}));
  Buffer<T> out(Target::cpu, in.size());
  Counted c(kFile, kernel, {{4}, {64}}, in, out);
  const Cost cost{8, 8 * 32, 8 * sectors, 8 * sectors, static_cast<unsigned>(sectors)};
  c.expect("copy load", global_load(bytes), cost);
  c.expect("copy store", global_store(bytes), cost);
  c.expect_no_more();
  EXPECT_EQ(out.download(), in.download());
}

TEST(CountsOfMemory, CopiesOfEveryWidth) {
  expect_copy<float>("copy_each<float>", 1, 4);  // 32 · 4 bytes = 128 = 4 sectors
  expect_copy<float>("copy_each<float2>", 2, 8);
  expect_copy<float>("copy_each<float4>", 4, 16);
  expect_copy<double>("copy_each<double>", 1, 8);
  expect_copy<long long>("copy_each<long long>", 1, 8);
  expect_copy<short>("copy_each<short>", 1, 2);
  expect_copy<signed char>("copy_each<signed char>", 1, 1);
}

// nvcc may store a float4 as four words: each takes as many sectors as all of them.
TEST(CountsOfMemory, StoresThatTheCompilerParted) {
  const Buffer<float> in(Target::cpu, std::vector<float>(128, 3.0f));
  Buffer<float> out(Target::cpu, in.size());
  Counted source(kFile, "copy_each<float4>", {{1}, {32}}, in, out);
  executor::CompiledCode code;
  auto& accesses = code.kernels[executor::without_flavours(source.counts().kernel)];
  for (const auto& a : source.counts().accesses) {
    accesses.push_back({a.file, a.line, a.space, a.kind, 4});
  }
  const executor::AsCompiled as_compiled(code);
  Counted c(kFile, "copy_each<float4>", {{1}, {32}}, in, out);
  c.expect("copy load", global_load(16), {1, 32, 16, 16, 16});
  c.expect("copy store", global_store(4), {4, 4 * 32, 4 * 16, 4 * 4, 16});
  c.expect_no_more();
  EXPECT_EQ(out.download(), in.download());
}

// A warp's words are `stride` words apart: 8 / stride of them share a sector, one if it is 8 or
// more. 32 words would fit in 4.
TEST(CountsOfMemory, StridedCopies) {
  for (const auto& [stride, sectors] : {std::pair(1, 4u), {2, 8u}, {4, 16u}, {8, 32u}, {32, 32u}}) {
    const Buffer<float> in(Target::cpu, whole_numbers(64 * static_cast<std::size_t>(stride)));
    Buffer<float> out(Target::cpu, in.size());
    Counted c(kFile, "copy_strided", {{2}, {32}}, in, out, stride);
    c.expect("strided load", global_load(4), {2, 64, 2 * sectors, 2 * 4, sectors});
    c.expect("strided store", global_store(4), {2, 64, 2 * sectors, 2 * 4, sectors});
    c.expect_no_more();
  }
}

// One word off, a warp's 128 bytes begin 4 bytes into a sector and end 4 bytes into a fifth.
TEST(CountsOfMemory, MisalignedCopy) {
  const Buffer<float> in(Target::cpu, whole_numbers(64), 1);
  Buffer<float> out(Target::cpu, 64);
  Counted c(kFile, "copy_strided", {{2}, {32}}, in, out, 1);
  c.expect("strided load", global_load(4), {2, 64, 2 * 5, 2 * 4, 5});
  c.expect("strided store", global_store(4), {2, 64, 2 * 4, 2 * 4, 4});
  EXPECT_EQ(out.download(), in.download());
}

TEST(CountsOfMemory, Broadcast) {
  const Buffer<float> in(Target::cpu, whole_numbers(3));
  Buffer<float> out(Target::cpu, 3 * 64);
  Counted c(kFile, "broadcast", {{3}, {64}}, in, out);
  c.expect("broadcast load", global_load(4), {6, 6 * 32, 6, 6, 1});
}

// The order of the lanes does not matter; a word that two lanes want is fetched once.
TEST(CountsOfMemory, Gathers) {
  const Buffer<float> in(Target::cpu, whole_numbers(1024));
  Buffer<float> out(Target::cpu, 32);
  const auto expect_gather = [&](auto index_of_lane, std::uint64_t sectors, std::uint64_t ideal) {
    std::vector<int> order(32);
    for (int lane = 0; lane < 32; ++lane) order[lane] = index_of_lane(lane);
    const Buffer<int> indices(Target::cpu, order);
    Counted c(kFile, "gather", {{1}, {32}}, indices, in, out);
    c.expect("gather load", global_load(4),
             {1, 32, sectors, ideal, static_cast<unsigned>(sectors)});
  };
  expect_gather([](int lane) { return 31 - lane; }, 4, 4);
  expect_gather([](int lane) { return lane * 5 % 32; }, 4, 4);
  expect_gather([](int lane) { return lane / 2; }, 2, 2);                  // 16 words
  expect_gather([](int lane) { return lane % 2 * 512; }, 2, 1);            // 2 words, far apart
  expect_gather([](int lane) { return lane % 4 * 8 + lane / 16; }, 4, 1);  // 8 words, 2 a sector
}

// ---- shared memory

// Words s·lane: gcd(s, 32) lanes meet in each bank that is used.
TEST(CountsOfMemory, BankConflictsByStride) {
  Buffer<float> out(Target::cpu, 32);
  for (int step = 1; step <= 34; ++step) {
    const auto passes = static_cast<unsigned>(std::gcd(step, 32));
    Counted c(kFile, "shared_strided<float>", {{1}, {32}, 32u * 4u * static_cast<unsigned>(step)},
              out, step);
    c.expect("shared strided store", shared_store(4), {1, 32, passes, 1, passes});
    c.expect("shared strided load", shared_load(4), {1, 32, passes, 1, passes});
  }
}

// 8 bytes a lane take two half-warps. Side by side a half's 16 doubles fill the 32 banks once;
// every second double covers 64 words and meets itself in half the banks.
TEST(CountsOfMemory, SharedDoubles) {
  Buffer<double> out(Target::cpu, 32);
  for (const auto& [step, passes] : {std::pair(1, 1u), {2, 2u}, {3, 1u}, {4, 4u}, {16, 16u}}) {
    Counted c(kFile, "shared_strided<double>", {{1}, {32}, 32u * 8u * static_cast<unsigned>(step)},
              out, step);
    c.expect("shared strided store", shared_store(8), {1, 32, 2 * passes, 2, 2 * passes});
    c.expect("shared strided load", shared_load(8), {1, 32, 2 * passes, 2, 2 * passes});
  }
}

// Narrow neighbours share words, and a word is served to all lanes at once. Elements 64 shorts or
// 128 chars apart are 32 words apart: all in one bank.
TEST(CountsOfMemory, SharedNarrowAccesses) {
  Buffer<short> shorts(Target::cpu, 32);
  Buffer<signed char> chars(Target::cpu, 32);
  for (const auto& [step, passes] : {std::pair(1, 1u), {2, 1u}, {3, 2u}, {4, 2u}, {64, 32u}}) {
    Counted c(kFile, "shared_strided<short>", {{1}, {32}, 32u * 2u * static_cast<unsigned>(step)},
              shorts, step);
    c.expect("shared strided store", shared_store(2), {1, 32, passes, 1, passes});
    c.expect("shared strided load", shared_load(2), {1, 32, passes, 1, passes});
  }
  for (const auto& [step, passes] : {std::pair(1, 1u), {4, 1u}, {8, 2u}, {128, 32u}}) {
    Counted c(kFile, "shared_strided<signed char>", {{1}, {32}, 32u * static_cast<unsigned>(step)},
              chars, step);
    c.expect("shared strided store", shared_store(1), {1, 32, passes, 1, passes});
    c.expect("shared strided load", shared_load(1), {1, 32, passes, 1, passes});
  }
}

// `distinct` words of one bank, each read by 32 / distinct lanes.
TEST(CountsOfMemory, SharedBroadcast) {
  Buffer<float> out(Target::cpu, 32);
  for (const int distinct : {1, 2, 3, 16, 32}) {
    const auto passes = static_cast<unsigned>(distinct);
    Counted c(kFile, "shared_broadcast", {{1}, {32}}, out, distinct);
    c.expect("shared broadcast", shared_load(4), {1, 32, passes, 1, passes});
  }
}

// ---- transposes of 64×64: 4 blocks of 8 warps, each 4 rows of a tile: 128 requests.

struct Transpose {
  Counted count(const std::string& kernel) {
    return {kFile, kernel, {{2, 2}, {32, 8}}, in, out, 64};
  }
  void expect_right() const {
    const std::vector<float> from = in.download(), to = out.download();
    for (std::size_t i = 0; i < from.size(); ++i) {
      ASSERT_EQ(to[i % 64 * 64 + i / 64], from[i]) << i;
    }
  }
  Buffer<float> in{Target::cpu, whole_numbers(64 * 64, 1 << 20)}, out{Target::cpu, 64 * 64};
};

TEST(CountsOfMemory, NaiveTranspose) {
  Transpose t;
  Counted c = t.count("transpose_naive");
  c.expect("naive read", global_load(4), {128, 4096, 128 * 4, 128 * 4, 4});
  // A column: 32 words, 256 bytes apart.
  c.expect("naive write", global_store(4), {128, 4096, 128 * 32, 128 * 4, 32});
  c.expect_no_more();
  t.expect_right();
}

TEST(CountsOfMemory, TransposesThroughSharedMemory) {
  // Rows 32 words apart put a column into one bank; 33 words apart, into 32.
  for (const auto& [kernel, passes] : {std::pair("transpose<0>", 32u), {"transpose<1>", 1u}}) {
    Transpose t;
    Counted c = t.count(kernel);
    c.expect("tile read", global_load(4), {128, 4096, 128 * 4, 128 * 4, 4});
    c.expect("tile row", shared_store(4), {128, 4096, 128, 128, 1});
    c.expect("tile column", shared_load(4), {128, 4096, 128 * passes, 128, passes});
    c.expect("tile write", global_store(4), {128, 4096, 128 * 4, 128 * 4, 4});
    c.expect_barriers("tile whole", 4 * 8);
    c.expect_no_more();
    t.expect_right();
  }
}

// ---- atomics are requests like others

TEST(CountsOfMemory, Atomics) {
  Buffer<int> global(Target::cpu, std::vector<int>(64));
  {  // 96 threads are 3 warps, each on 32 neighbouring cells, the third on the first's
    Counted c(kFile, "count_atomically", {{1}, {96}}, global, 64);
    c.expect("shared atomic", shared_atomic(4), {3, 96, 3, 3, 1});
    c.expect("global atomic", global_atomic(4), {3, 96, 3 * 4, 3 * 4, 4});
    EXPECT_EQ(global.download()[0], 2);
    EXPECT_EQ(global.download()[63], 1);
  }
  {  // all on one cell: one word, one sector
    Counted c(kFile, "count_atomically", {{1}, {64}}, global, 1);
    c.expect("shared atomic", shared_atomic(4), {2, 64, 2, 2, 1});
    c.expect("global atomic", global_atomic(4), {2, 64, 2, 2, 1});
  }
  Buffer<unsigned long long> wide(Target::cpu, 32);
  Counted c(kFile, "swap_wide", {{1}, {32}}, wide);
  c.expect("wide atomic", global_atomic(8), {1, 32, 8, 8, 8});
  c.expect_no_more();
}

}  // namespace
}  // namespace warpladder::kernel_tests
