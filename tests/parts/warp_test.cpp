// parts/warp, lane by lane, against tables that plain loops make from each function's definition.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <random>

#include "kernels/counting.hpp"
#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr int kUntouched = 77;  // what stands where no lane writes
constexpr int kFunctions = 8;
constexpr const char* kNames[kFunctions] = {"broadcast",     "rotate",       "exchange",
                                            "reduce Sum",    "reduce Min",   "reduce Max",
                                            "inclusive Sum", "exclusive Sum"};

// Numbers whose sums are exact in their own type, and in no narrower one.
template <class T>
T any_number(std::mt19937_64& random) {
  const auto bits = static_cast<std::int64_t>(random());
  if constexpr (std::is_same_v<T, int>) return static_cast<int>(bits >> 38);
  if constexpr (std::is_same_v<T, unsigned>) return static_cast<unsigned>(bits);
  if constexpr (std::is_same_v<T, float>) return static_cast<float>(bits >> 46) / 16;
  if constexpr (std::is_same_v<T, double>) return static_cast<double>(bits >> 17) / (1 << 30);
}

struct Case {
  unsigned mask;
  int source, by, bits;
};

// All lanes with every number; then segments, halves, gaps of all kinds, a lane alone.
std::vector<Case> cases_for(int width) {
  std::mt19937 random(41);
  std::vector<Case> cases;
  for (int i = 0; i < 32; ++i) cases.push_back({0xffffffffu, i % width, 3 * i - 40, i});
  std::vector<unsigned> masks = {0x0000ffffu, 0xffff0000u, 0x000000ffu, 0x00f00000u, 0x0000000cu,
                                 0x55555555u, 0xaaaaaaaau, 0x11111111u, 0x80000001u, 0x00000001u,
                                 0x80000000u, 0x7fffffffu, 0xfffffffeu, 0x0ff00ff0u, 0xfffeffffu};
  for (int i = 0; i < 12; ++i) {
    const auto any = static_cast<unsigned>(random()), more = static_cast<unsigned>(random());
    masks.insert(masks.end(), {any | 1u << i, (any & more) | 1u << (31 - i), any | more});
    unsigned segments = 0;  // whole ones
    for (int lane = 0; lane < 32; ++lane) segments |= (more >> lane / width & 1) << lane;
    if (segments) masks.push_back(segments);
  }
  for (const unsigned mask : masks) {
    for (int i = 0; i < 3; ++i) {
      const auto below = [&](int n) { return static_cast<int>(random() % n); };
      cases.push_back({mask, below(width), below(99) - 49, below(32)});
    }
  }
  return cases;
}

bool is_member(unsigned mask, int lane) { return mask >> lane & 1; }

// The members of a lane's segment, in their order.
std::vector<int> members_beside(unsigned mask, int width, int lane) {
  std::vector<int> members;
  for (int other = 0; other < 32; ++other) {
    if (is_member(mask, other) && other / width == lane / width) members.push_back(other);
  }
  return members;
}

// What each function gives `lane`; in[i] is lane i's value.
template <class T>
std::array<T, kFunctions> by_definition(const Case& c, int width, int lane, const T* in) {
  const int first = lane / width * width;
  int partner = lane;
  for (int bit = 1; bit < 32; bit *= 2) {
    if (c.bits & bit) partner += lane & bit ? -bit : bit;
  }
  int to_the_right = lane;
  for (int i = 0; i < std::abs(c.by); ++i) {
    to_the_right += c.by < 0 ? -1 : 1;
    if (to_the_right < first) to_the_right = first + width - 1;
    if (to_the_right == first + width) to_the_right = first;
  }
  const auto from = [&](int other) { return in[is_member(c.mask, other) ? other : lane]; };

  T sum = 0, inclusive = 0, exclusive = in[0];
  std::optional<T> least, most;
  for (const int member : members_beside(c.mask, width, lane)) {
    const T value = in[member];
    sum += value;
    if (member <= lane) inclusive += value;
    if (member < lane) exclusive += value;
    if (!least || value < *least) least = value;
    if (!most || *most < value) most = value;
  }
  return {from(first + c.source),
          from(to_the_right),
          from(partner),
          sum,
          *least,
          *most,
          inclusive,
          exclusive};
}

class WarpParts : public EveryFlavour {
 protected:
  // A value of `type` has kComponents of type T.
  template <class T, int kComponents = 1>
  void check(const std::string& type, const runtime::Dim3& block = {32}) {
    for (const int width : {2, 4, 8, 16, 32}) {
      const std::vector<Case> cases = cases_for(width);
      std::vector<unsigned> masks;
      std::vector<int> numbers;
      for (const Case& c : cases) {
        masks.push_back(c.mask);
        numbers.insert(numbers.end(), {c.source, c.by, c.bits});
      }
      std::mt19937_64 random(43);
      std::vector<T> in(32 * cases.size() * kComponents);
      for (T& value : in) value = any_number<T>(random);
      std::vector<T> expected(kFunctions * in.size(), T{kUntouched});
      for (std::size_t c = 0; c < cases.size(); ++c) {
        for (int component = 0; component < kComponents; ++component) {
          std::array<T, 32> lanes;
          for (int i = 0; i < 32; ++i) lanes[i] = in[(32 * c + i) * kComponents + component];
          for (int lane = 0; lane < 32; ++lane) {
            if (!is_member(cases[c].mask, lane)) continue;
            const auto results = by_definition(cases[c], width, lane, lanes.data());
            for (std::size_t f = 0; f < kFunctions; ++f) {
              expected[((kFunctions * c + f) * 32 + lane) * kComponents + component] = results[f];
            }
          }
        }
      }
      const Buffer<T> from(target(), in);
      const Buffer<unsigned> in_masks(target(), masks);
      const Buffer<int> in_numbers(target(), numbers);
      Buffer<T> to(target(), std::vector<T>(expected.size(), T{kUntouched}));
      run("warp_parts<" + type + ", " + std::to_string(width) + ">", {{1}, block}, from, to,
          in_masks, in_numbers, static_cast<int>(cases.size()));
      const std::vector<T> got = to.download();
      for (std::size_t i = 0; i < got.size(); ++i) {
        const std::size_t at = i / kComponents;
        ASSERT_EQ(got[i], expected[i])
            << kNames[at / 32 % kFunctions] << " of " << type << ", width " << width << ", lane "
            << at % 32 << ", component " << i % kComponents << ", case " << at / 32 / kFunctions
            << " with mask " << std::hex << masks[at / 32 / kFunctions];
      }
    }
  }
};
WARPLADDER_IN_EVERY_FLAVOUR(WarpParts);

TEST_P(WarpParts, OfInts) { check<int>("int"); }
TEST_P(WarpParts, OfUnsigneds) { check<unsigned>("unsigned"); }
TEST_P(WarpParts, OfFloats) { check<float>("float"); }
TEST_P(WarpParts, OfDoubles) { check<double>("double"); }
TEST_P(WarpParts, OfFloat4s) { check<float, 4>("float4"); }
TEST_P(WarpParts, InABlockOfAnyShape) { check<int>("int", {4, 4, 2}); }

// x → a·x + b modulo 2^16, one function after the other.
unsigned composed(const std::vector<unsigned>& functions) {
  const auto through_all = [&](unsigned x) {
    for (const unsigned f : functions) x = ((f >> 16) * x + f) & 0xffffu;
    return x;
  };
  const unsigned b = through_all(0), a = (through_all(1) - b) & 0xffffu;
  return a << 16 | b;
}

TEST_P(WarpParts, ScanInTheOrderOfTheLanes) {
  for (const int width : {2, 4, 8, 16, 32}) {
    std::mt19937 random(47);
    std::vector<unsigned> masks, in, expected;
    for (const Case& c : cases_for(width)) masks.push_back(c.mask);
    for (std::size_t i = 0; i < 32 * masks.size(); ++i) in.push_back(random());
    for (std::size_t c = 0; c < masks.size(); ++c) {
      const auto row = [&](bool with_own) {
        for (int lane = 0; lane < 32; ++lane) {
          std::vector<unsigned> functions;
          if (!with_own) functions.push_back(in[32 * c]);
          for (const int member : members_beside(masks[c], width, lane)) {
            if (member < lane + with_own) functions.push_back(in[32 * c + member]);
          }
          const bool takes_part = is_member(masks[c], lane);
          expected.push_back(takes_part ? composed(functions) : unsigned{kUntouched});
        }
      };
      row(true);
      row(false);
    }
    const Buffer<unsigned> from(target(), in), in_masks(target(), masks);
    Buffer<unsigned> to(target(), std::vector<unsigned>(expected.size(), kUntouched));
    run("ordered_scans<" + std::to_string(width) + ">", {{1}, {32}}, from, to, in_masks,
        static_cast<int>(masks.size()));
    EXPECT_EQ(to.download(), expected) << width;
  }
}

TEST_P(WarpParts, OfWholeWarpsWithoutAMask) {
  constexpr int kAll = 2 * 96;
  const std::vector<float> in = whole_numbers(kAll, 61);
  std::vector<float> expected(6 * kAll);
  for (int t = 0; t < kAll; ++t) {
    const int warp = t / 32 * 32, eight = t / 8 * 8, sixteen = t / 16 * 16;
    expected[t] = in[warp + 5];
    expected[kAll + t] = in[t == eight ? eight + 7 : t - 1];
    expected[2 * kAll + t] = in[t - warp < 16 ? t + 16 : t - 16];
    for (int i = 0; i < 32; ++i) expected[3 * kAll + t] += in[warp + i];
    for (int i = sixteen; i <= t; ++i) expected[4 * kAll + t] += in[i];
    for (int i = warp; i < t; ++i) expected[5 * kAll + t] += in[i];
  }
  const Buffer<float> from(target(), in);
  Buffer<float> to(target(), expected.size());
  run("whole_warps", {{2}, {96}}, from, to);
  EXPECT_EQ(to.download(), expected);
}

TEST_P(WarpParts, InAWarpThatIsNotFull) {
  for (const unsigned threads : {1u, 5u, 32u, 33u, 63u, 1000u}) {
    std::vector<int> in(threads), expected(2 * threads);
    for (unsigned t = 0; t < threads; ++t) in[t] = static_cast<int>(t * t % 101) - 50;
    for (unsigned t = 0; t < threads; ++t) {
      for (unsigned i = t / 32 * 32; i < std::min(threads, t / 32 * 32 + 32); ++i) {
        expected[t] += in[i];
        if (i <= t) expected[threads + t] += in[i];
      }
    }
    const Buffer<int> from(target(), in);
    Buffer<int> to(target(), expected.size());
    run("ragged_warps", {{1}, {threads}}, from, to);
    EXPECT_EQ(to.download(), expected) << threads;
  }
}

// The header says what each function costs.
TEST(WarpPartsCost, IsWhatTheHeaderSays) {
  const Buffer<float> in(Target::cpu, whole_numbers(32));
  Buffer<float> out(Target::cpu, 6 * 32);
  Counted whole("warp.cu", "whole_warps", {{1}, {32}}, in, out);
  for (const char* mark : {"broadcast", "rotate", "exchange"}) whole.expect_shuffles(mark, 1);
  whole.expect_shuffles("reduce", 5);
  whole.expect_shuffles("inclusive", 4);
  whole.expect_shuffles("exclusive", 5 + 1);

  const Buffer<int> in_ints(Target::cpu, std::vector<int>(27));
  Buffer<int> out_ints(Target::cpu, 2 * 27);
  Counted ragged("warp.cu", "ragged_warps", {{1}, {27}}, in_ints, out_ints);
  ragged.expect_shuffles("ragged reduce", 2 * 5);
  ragged.expect_shuffles("ragged inclusive", 2 * 5 - 1);
}

}  // namespace
}  // namespace warpladder::kernel_tests
