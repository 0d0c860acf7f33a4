// Wide accesses, and asynchronous copies with the right wait and with a hasty one.

#include <algorithm>

#include "executor/fault.hpp"
#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {
namespace {

using executor::FaultKind;
using executor::KernelFault;

class Copy : public EveryFlavour {
 protected:
  // `count` vectors of `lanes` elements each.
  template <class T>
  void check(const std::string& vector, int lanes) {
    for (const int count : {1, 31, 100, 128}) {
      std::vector<T> in(static_cast<std::size_t>(count * lanes));
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i * i + 1);
      std::vector<T> reversed;
      for (int i = count; i-- > 0;) {
        reversed.insert(reversed.end(), in.begin() + i * lanes, in.begin() + (i + 1) * lanes);
      }
      const Buffer<T> from(target(), in);
      Buffer<T> to(target(), in.size());
      run("copy<" + vector + ">", {{1}, {64}}, from, to, count);
      EXPECT_EQ(to.download(), in) << vector;
      run("reverse<" + vector + ">", {{1}, {128}}, from, to, count);
      EXPECT_EQ(to.download(), reversed) << vector;
      EXPECT_TRUE(to.guards_intact());
    }
  }
};
WARPLADDER_IN_EVERY_FLAVOUR(Copy);

TEST_P(Copy, MovesVectors) {
  check<float>("float2", 2);
  check<float>("float4", 4);
  check<double>("double2", 2);
  check<int>("int2", 2);
  check<int>("int4", 4);
  check<unsigned>("uint2", 2);
  check<unsigned>("uint4", 4);
}

TEST_P(Copy, TakesVectorsApart) {
  const std::vector<float> in = whole_numbers(32 * 4, 1000);
  std::vector<float> expected;
  for (std::size_t i = 0; i < in.size(); i += 4) {
    expected.insert(expected.end(), {in[i + 1] + 1.0f, in[i + 2], in[i + 3], -in[i]});
  }
  const Buffer<float> from(target(), in);
  Buffer<float> to(target(), in.size());
  run("turn_components", {{1}, {32}}, from, to);
  EXPECT_EQ(to.download(), expected);
}

// A hint changes nothing of what is read, also where the 256 bytes around it are not all there.
TEST_P(Copy, LoadsWithAHint) {
  for (const int count : {1, 7, 128}) {
    const std::vector<float> in = whole_numbers(static_cast<std::size_t>(count) * 4, 1000);
    std::vector<float> reversed;
    for (int i = count; i-- > 0;) {
      reversed.insert(reversed.end(), in.begin() + i * 4, in.begin() + (i + 1) * 4);
    }
    const Buffer<float> from(target(), in);
    Buffer<float> to(target(), in.size());
    run("reverse_hinted", {{1}, {128}}, from, to, count);
    EXPECT_EQ(to.download(), reversed);
    EXPECT_TRUE(to.guards_intact());
  }
}

TEST_P(Copy, PassesThroughADoubleBuffer) {
  constexpr int kTiles = 9;
  for (const int lanes : {1, 2, 4}) {
    for (const int threads : {32, 128}) {
      const std::vector<float> in =
          whole_numbers(static_cast<std::size_t>(kTiles * threads * lanes), 1 << 20);
      std::vector<float> expected;
      for (int tile = 0; tile < kTiles; ++tile) {
        for (int t = threads; t-- > 0;) {
          const auto at = in.begin() + (tile * threads + t) * lanes;
          expected.insert(expected.end(), at, at + lanes);
        }
      }
      const Buffer<float> from(target(), in);
      Buffer<float> to(target(), in.size());
      run(lanes == 1   ? "pipeline<float>"
          : lanes == 2 ? "pipeline<float2>"
                       : "pipeline<float4>",
          {{1}, {static_cast<unsigned>(threads)}}, from, to, kTiles);
      EXPECT_EQ(to.download(), expected) << lanes << " words, " << threads << " threads";
    }
  }
}

TEST_P(Copy, FillsWithZeros) {
  for (const int words : {400, 401, 402, 403}) {
    std::vector<float> in = whole_numbers(static_cast<std::size_t>(words), 1000), expected = in;
    expected.resize(128 * 4);
    const Buffer<float> from(target(), in);
    Buffer<float> to(target(), expected.size());
    run("copy_with_zeros", {{1}, {128}}, from, to, words);
    EXPECT_EQ(to.download(), expected) << words;
  }
}

// A wait that is one group too lax. The copy happens at the latest moment that PTX allows, so the
// plain flavour reads what was there before; the counted flavour says so.
TEST(HastyPipeline, ReadsStaleDataOnThePlainFlavour) {
  constexpr int kTiles = 4, kThreads = 32;
  const std::vector<float> in = whole_numbers(kTiles * kThreads, 1 << 20);
  const Buffer<float> from(Target::cpu, in);
  Buffer<float> to(Target::cpu, in.size());
  device::Stream stream(Target::cpu);
  run(stream, Flavour::plain, "hasty_pipeline", {{1}, {kThreads}}, from, to, kTiles);
  const std::vector<float> got = to.download();
  // With a wait for all but two groups, tile 2's copy arrives in the round after the one that reads
  // it. So that round reads tile 0 again, and the next tile 1.
  for (int i = 0; i < 2 * kThreads; ++i) {
    EXPECT_EQ(got[2 * kThreads + i], in[(i / kThreads + 1) * kThreads - 1 - i % kThreads]) << i;
  }
}

TEST(HastyPipeline, IsCaughtOnTheCountedFlavour) {
  const Buffer<float> from(Target::cpu, whole_numbers(128));
  Buffer<float> to(Target::cpu, 128);
  device::Stream stream(Target::cpu);
  try {
    run(stream, Flavour::counted, "hasty_pipeline", {{1}, {32}}, from, to, 4);
    FAIL() << "nothing was thrown";
  } catch (const KernelFault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::unwaited_async_copy) << fault.what();
    EXPECT_EQ(fault.place().line, line_of("semantics_copy.cu", "FAULT: too lax a wait"));
    EXPECT_NE(std::string(fault.what()).find("asynchronous copy not waited for"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace warpladder::kernel_tests
