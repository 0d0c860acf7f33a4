// Where a thread is, what a block shares and its barriers, thread by thread.

#include <numeric>
#include <random>

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

class Block : public EveryFlavour {};
WARPLADDER_IN_EVERY_FLAVOUR(Block);

std::vector<int> random_ints(std::size_t count, int below, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> values(count);
  for (int& v : values) v = static_cast<int>(random() % static_cast<unsigned>(below));
  return values;
}

TEST_P(Block, ThreadsKnowTheirPlaces) {
  const Shape shapes[] = {{{1}, {1}},
                          {{5}, {32}},
                          {{3}, {33}},
                          {{2}, {1024}},
                          {{2, 3}, {7, 5}},
                          {{4, 1, 3}, {16, 2}},
                          {{1, 2, 3}, {5, 4, 3}},
                          {{3, 2, 2}, {1, 9, 7}},
                          {{100}, {48}},
                          {{1, 1, 2}, {2, 8, 64}}};
  for (const Shape& s : shapes) {
    std::vector<unsigned> expected;
    const auto [grid, block] = std::pair(s.grid, s.block);
    for (unsigned bz = 0; bz < grid.z; ++bz)
      for (unsigned by = 0; by < grid.y; ++by)
        for (unsigned bx = 0; bx < grid.x; ++bx)
          for (unsigned tz = 0; tz < block.z; ++tz)
            for (unsigned ty = 0; ty < block.y; ++ty)
              for (unsigned tx = 0; tx < block.x; ++tx)
                for (const unsigned number :
                     {tx, ty, tz, bx, by, bz, block.x, block.y, block.z, grid.x, grid.y, grid.z})
                  expected.push_back(number);
    Buffer<unsigned> out(target(), expected.size());
    run("places", s, out);
    EXPECT_EQ(out.download(), expected) << s.grid.x << " blocks of " << s.block.count();
    EXPECT_TRUE(out.guards_intact());
  }
}

TEST_P(Block, SharesStaticAndDynamicMemory) {
  for (const unsigned threads : {1u, 31u, 32u, 100u, 1024u}) {
    constexpr unsigned kBlocks = 9;
    const std::vector<int> in = random_ints(kBlocks * threads, 1 << 30, threads);
    std::vector<int> expected = in;
    for (unsigned b = 0; b < kBlocks; ++b) {
      std::reverse(expected.begin() + b * threads, expected.begin() + (b + 1) * threads);
    }
    const Buffer<int> from(target(), in);
    for (const std::string kernel : {"reverse_static", "reverse_dynamic"}) {
      Buffer<int> to(target(), in.size());
      run(kernel, {{kBlocks}, {threads}, threads * sizeof(int)}, from, to);
      EXPECT_EQ(to.download(), expected) << kernel << " with " << threads << " threads";
    }
  }
}

TEST_P(Block, KeepsItsSharedArraysApart) {
  constexpr unsigned kThreads = 256;
  std::vector<double> a(kThreads), expected(kThreads);
  const std::vector<int> b = random_ints(kThreads, 1000, 5);
  const std::vector<float> c = whole_numbers(kThreads);
  std::iota(a.begin(), a.end(), 0.25);
  for (unsigned t = 0; t < kThreads; ++t) {
    const unsigned from = t == kThreads - 1 ? 0 : t + 1;
    expected[t] = a[from] + b[from] + c[from];
  }
  const Buffer<double> in_a(target(), a);
  const Buffer<int> in_b(target(), b);
  const Buffer<float> in_c(target(), c);
  Buffer<double> out(target(), kThreads);
  run("three_arrays", {{1}, {kThreads}, kThreads * (sizeof(double) + sizeof(int))}, in_a, in_b,
      in_c, out);
  EXPECT_EQ(out.download(), expected);
}

TEST_P(Block, VotesAtTheBarrier) {
  constexpr int kRounds = 12;
  for (const runtime::Dim3 block : {runtime::Dim3{1}, {32}, {45}, {8, 5, 3}, {1024}}) {
    const auto threads = static_cast<int>(block.count());
    // Nobody, everybody, one alone, all but one, then chance; true is any number but 0.
    std::vector<int> predicates = random_ints(static_cast<std::size_t>(kRounds * threads), 2, 17);
    const auto round = [&](int r) { return predicates.begin() + r * threads; };
    std::fill_n(round(0), threads, 0);
    std::fill_n(round(1), threads, -4);
    std::fill_n(round(2), threads, 0);
    round(2)[threads / 2] = 256;
    std::fill_n(round(3), threads, 1);
    round(3)[threads - 1] = 0;

    std::vector<int> expected;
    for (int r = 0; r < kRounds; ++r) {
      const int zeros = static_cast<int>(std::count(round(r), round(r) + threads, 0));
      for (int t = 0; t < threads; ++t) {
        expected.insert(expected.end(), {zeros == 0, zeros != threads, threads - zeros});
      }
    }
    const Buffer<int> in(target(), predicates);
    Buffer<int> out(target(), expected.size());
    run("block_votes", {{1}, block}, in, out, kRounds);
    std::vector<int> got = out.download();
    // CUDA promises "non-zero" for and, or.
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (i % 3 < 2) got[i] = got[i] != 0;
    }
    EXPECT_EQ(got, expected) << threads << " threads";
  }
}

TEST_P(Block, SumsInATree) {
  constexpr unsigned kBlocks = 40, kThreads = 1024;
  const std::vector<int> in = random_ints(kBlocks * kThreads, 1000, 3);
  std::vector<int> expected(kBlocks);
  for (std::size_t i = 0; i < in.size(); ++i) expected[i / kThreads] += in[i];
  const Buffer<int> from(target(), in);
  Buffer<int> to(target(), kBlocks);
  run("block_sums", {{kBlocks}, {kThreads}, kThreads * sizeof(int)}, from, to);
  EXPECT_EQ(to.download(), expected);
}

TEST_P(Block, OrdersTheHalvesOfAWarpApart) {
  const std::vector<int> in = random_ints(64, 900, 8);
  std::vector<int> expected(64);
  for (int t = 0; t < 64; ++t) {
    // The upper half's last step is 8.
    expected[t] =
        t % 32 < 16 ? in[t % 2 ? t - 1 : t + 1] + 1000 : in[t % 16 < 8 ? t + 8 : t - 8] + 8;
  }
  const Buffer<int> from(target(), in);
  Buffer<int> to(target(), in.size());
  run("halves_in_order", {{1}, {64}}, from, to);
  EXPECT_EQ(to.download(), expected);
}

}  // namespace
}  // namespace warpladder::kernel_tests
