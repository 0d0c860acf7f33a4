// Votes, reductions, the active mask, and halves of a warp that go different ways, lane by lane.

#include <algorithm>
#include <random>

#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

class Warp : public EveryFlavour {};
WARPLADDER_IN_EVERY_FLAVOUR(Warp);

constexpr unsigned kUntouched = 0xdeadbeefu;

std::vector<unsigned> masks_and_random(std::mt19937& random) {
  std::vector<unsigned> masks = {0xffffffffu, 0x0000ffffu, 0xffff0000u, 0x55555555u,
                                 0xaaaaaaaau, 0x00000001u, 0x80000000u, 0x80000001u};
  for (int i = 0; i < 60; ++i) masks.push_back(static_cast<unsigned>(random()) | 1u << (i % 32));
  return masks;
}

TEST_P(Warp, Votes) {
  std::mt19937 random(23);
  std::vector<unsigned> masks, predicates, expected;
  for (const unsigned mask : masks_and_random(random)) {
    for (const unsigned predicate : {0u, ~0u, mask, ~mask, static_cast<unsigned>(random())}) {
      masks.push_back(mask);
      predicates.push_back(predicate);
      bool any = false, all = true;
      unsigned ballot = 0;
      for (int lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1)) continue;
        const bool vote = predicate >> lane & 1;
        any = any || vote;
        all = all && vote;
        if (vote) ballot += 1u << lane;
      }
      for (int lane = 0; lane < 32; ++lane) {
        if (mask >> lane & 1) {
          expected.insert(expected.end(), {ballot, any, all});
        } else {
          expected.insert(expected.end(), 3, kUntouched);
        }
      }
    }
  }
  const Buffer<unsigned> in_masks(target(), masks), in(target(), predicates);
  Buffer<unsigned> out(target(), std::vector<unsigned>(expected.size(), kUntouched));
  run("votes", {{1}, {32}}, in_masks, in, out, static_cast<int>(masks.size()));
  EXPECT_EQ(out.download(), expected);
}

TEST_P(Warp, Reduces) {
  std::mt19937 random(29);
  const std::vector<unsigned> masks = masks_and_random(random);
  std::vector<unsigned> in(32 * masks.size()), expected;
  for (unsigned& v : in) v = static_cast<unsigned>(random());
  for (std::size_t c = 0; c < masks.size(); ++c) {
    std::vector<unsigned> members;
    for (int lane = 0; lane < 32; ++lane) {
      if (masks[c] >> lane & 1) members.push_back(in[32 * c + lane]);
    }
    std::vector<int> as_signed(members.begin(), members.end());
    unsigned sum = 0, in_all = ~0u, in_any = 0, odd = 0;
    for (const unsigned v : members) {
      sum += v;
      in_all &= v;
      in_any |= v;
      odd ^= v;
    }
    const auto [low, high] = std::minmax_element(members.begin(), members.end());
    const auto [low_signed, high_signed] = std::minmax_element(as_signed.begin(), as_signed.end());
    const unsigned row[] = {sum,
                            *low,
                            *high,
                            in_all,
                            in_any,
                            odd,
                            sum,
                            static_cast<unsigned>(*low_signed),
                            static_cast<unsigned>(*high_signed)};
    for (int lane = 0; lane < 32; ++lane) {
      if (masks[c] >> lane & 1) {
        expected.insert(expected.end(), std::begin(row), std::end(row));
      } else {
        expected.insert(expected.end(), std::size(row), kUntouched);
      }
    }
  }
  const Buffer<unsigned> in_masks(target(), masks), from(target(), in);
  Buffer<unsigned> out(target(), std::vector<unsigned>(expected.size(), kUntouched));
  run("reductions", {{1}, {32}}, in_masks, from, out, static_cast<int>(masks.size()));
  EXPECT_EQ(out.download(), expected);
}

TEST_P(Warp, TellsWhoIsActiveInABranch) {
  // Row by row: lanes that are multiples of three, the others below 20, the rest; after the return.
  unsigned active[4] = {};
  for (unsigned lane = 0; lane < 32; ++lane) {
    active[lane % 3 == 0 ? 0 : lane < 20 ? 1 : 2] |= 1u << lane;
  }
  active[3] = active[1] | active[2];
  Buffer<unsigned> out(target(), std::vector<unsigned>(4 * 32, kUntouched));
  run("active_masks", {{1}, {32}}, out);
  std::vector<unsigned> got = out.download();
  for (unsigned lane = 0; lane < 32; ++lane) {  // row 2 is written inverted
    if (active[2] >> lane & 1) got[64 + lane] = ~got[64 + lane];
  }
  for (unsigned i = 0; i < got.size(); ++i) {
    const unsigned row = i / 32, lane = i % 32;
    if (!(active[row] >> lane & 1)) {
      EXPECT_EQ(got[i], kUntouched) << row << ' ' << lane;
    } else if (on_gpu()) {  // lanes may part as they like: only the lane itself is sure
      EXPECT_EQ(got[i] & ~active[row], 0u) << row << ' ' << lane;
      EXPECT_NE(got[i] >> lane & 1, 0u) << row << ' ' << lane;
    } else {
      EXPECT_EQ(got[i], active[row]) << row << ' ' << lane;
    }
  }
}

TEST_P(Warp, LetsItsHalvesGoDifferentWays) {
  std::vector<int> in(32), expected(32);
  for (int lane = 0; lane < 32; ++lane) in[lane] = lane * lane % 23 - 7;
  // The lower half: everyone gets the sum. The upper half: seven times, each gains its difference
  // to the lane before.
  int sum = 0;
  for (int lane = 0; lane < 16; ++lane) sum += in[lane];
  std::vector<int> upper(in.begin() + 16, in.end());
  for (int step = 0; step < 7; ++step) {
    const std::vector<int> before = upper;
    for (int i = 1; i < 16; ++i) upper[i] += before[i] - before[i - 1];
  }
  for (int lane = 0; lane < 32; ++lane) expected[lane] = sum + upper[lane % 16];

  const Buffer<int> from(target(), in);
  Buffer<int> to(target(), 32);
  run("halves_apart", {{1}, {32}}, from, to);
  EXPECT_EQ(to.download(), expected);
}

TEST_P(Warp, ScansInBlocksOfAnySize) {
  for (const unsigned threads : {1u, 2u, 31u, 32u, 33u, 48u, 500u, 1024u}) {
    std::vector<int> in(threads), expected(threads);
    for (unsigned t = 0; t < threads; ++t) {
      in[t] = static_cast<int>(t % 13) - 4;
      expected[t] = in[t] + (t % 32 == 0 ? 0 : expected[t - 1]);
    }
    const Buffer<int> from(target(), in);
    Buffer<int> to(target(), threads);
    run("warp_scans", {{1}, {threads}}, from, to);
    EXPECT_EQ(to.download(), expected) << threads;
  }
}

TEST_P(Warp, SumsAcrossWarps) {
  constexpr unsigned kBlocks = 33;
  for (const unsigned threads : {32u, 96u, 1024u}) {
    std::vector<int> in(kBlocks * threads), expected(kBlocks);
    for (unsigned i = 0; i < in.size(); ++i) {
      in[i] = static_cast<int>(i * 2654435761u >> 20);
      expected[i / threads] += in[i];
    }
    const Buffer<int> from(target(), in);
    Buffer<int> to(target(), kBlocks);
    run("shuffled_block_sums", {{kBlocks}, {threads}}, from, to);
    EXPECT_EQ(to.download(), expected) << threads;
  }
}

}  // namespace
}  // namespace warpladder::kernel_tests
