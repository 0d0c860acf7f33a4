// Golden counts where lanes part and meet again, derived by hand. Lanes that leave a loop or a
// branch early wait for the others at its end. So a loop costs as many requests as its longest lane
// has rounds, and what comes after it one request for all.

#include <numeric>

#include "executor/executor.hpp"
#include "kernels/counting.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr const char* kFile = "counts_control.cu";

// Rows of 32 floats.
Buffer<float> rows(std::size_t count) { return {Target::cpu, whole_numbers(32 * count, 50)}; }

// A request for a whole row, `times`.
constexpr Cost whole_rows(std::uint64_t times) {
  return {times, 32 * times, 4 * times, 4 * times, 4};
}

template <class Sum>
std::uint64_t sum_over_lanes(const Sum& of_lane) {
  std::uint64_t sum = 0;
  for (int t = 0; t < 32; ++t) sum += static_cast<std::uint64_t>(of_lane(t));
  return sum;
}

// Requests and lanes of a line, where the sectors are another test's business.
void expect_access(const Counted& c, const std::string& mark, std::uint64_t requests,
                   std::uint64_t lanes) {
  const int line = line_of(kFile, "COUNT: " + mark);
  for (const executor::AccessCounts& a : c.counts().accesses) {
    if (a.line != line) continue;
    EXPECT_EQ(a.requests, requests) << mark;
    EXPECT_EQ(a.lanes, lanes) << mark;
    return;
  }
  ADD_FAILURE() << mark << " was not counted";
}

class CountsOfControl : public ::testing::Test {
 protected:
  Buffer<float> out_{Target::cpu, 32};
};

TEST_F(CountsOfControl, OneSidedIf) {
  const Buffer<float> a = rows(1), b = rows(1);
  Counted c(kFile, "one_sided_if", {{1}, {32}}, a, b, out_);
  c.expect("before if", global_load(4), whole_rows(1));
  // Lanes 1, 5, 9, …: 8 lanes, two in each of the row's 4 sectors; 8 words would fit in one.
  c.expect("in if", global_load(4), {1, 8, 4, 1, 4});
  c.expect("after if", global_store(4), whole_rows(1));
  c.expect_no_more();
}

TEST_F(CountsOfControl, TwoSidedIf) {
  const Buffer<float> a = rows(1), b = rows(1);
  Counted c(kFile, "two_sided_if", {{1}, {32}}, a, b, out_);
  c.expect("then", global_load(4), {1, 8, 1, 1, 1});
  c.expect("else", global_load(4), {1, 24, 3, 3, 3});
  c.expect("after both", global_store(4), whole_rows(1));
  c.expect_no_more();
}

TEST_F(CountsOfControl, Switch) {
  const Buffer<float> a = rows(4);
  Counted c(kFile, "four_ways", {{1}, {32}}, a, out_);
  for (const char* mark : {"case 0", "case 1", "case 2", "default"}) {
    c.expect(mark, global_load(4), {1, 8, 4, 1, 4});  // every fourth word
  }
  c.expect("after switch", global_store(4), whole_rows(1));
  c.expect_no_more();
}

TEST_F(CountsOfControl, IfInALoop) {
  const Buffer<float> a = rows(8), b = rows(8);
  Counted c(kFile, "if_in_loop", {{1}, {32}}, a, b, out_);
  c.expect("every round", global_load(4), whole_rows(8));
  c.expect("odd rounds", global_load(4), {8, 8 * 16, 8 * 4, 8 * 2, 4});  // every second word
  c.expect("after if in loop", global_store(4), whole_rows(1));
  c.expect_no_more();
}

TEST_F(CountsOfControl, NestedLoops) {
  const Buffer<float> a = rows(40);
  Counted c(kFile, "nested_loops", {{1}, {32}}, a, out_);
  // In outer round i the lanes with t % 4 >= i are left; the inner loop lasts as long as the
  // longest of them.
  std::uint64_t requests = 0;
  for (int i = 0; i < 4; ++i) {
    int longest = 0;
    for (int t = 0; t < 32; ++t) {
      if (t % 4 >= i) longest = std::max(longest, (7 * t + 3 * i) % 5);
    }
    requests += static_cast<std::uint64_t>(longest);
  }
  EXPECT_EQ(requests, 16u);  // every round has a lane with 4
  const std::uint64_t lanes = sum_over_lanes([](int t) {
    int rounds = 0;
    for (int i = 0; i <= t % 4; ++i) rounds += (7 * t + 3 * i) % 5;
    return rounds;
  });
  expect_access(c, "inner", requests, lanes);
  // 4 rounds with 32, 24, 16 and 8 lanes.
  expect_access(c, "outer", 4, 80);
  c.expect("after nest", global_store(4), whole_rows(1));
}

TEST_F(CountsOfControl, BreakAndContinue) {
  const Buffer<float> a = rows(16);
  {
    Counted c(kFile, "leave_by_break", {{1}, {32}}, a, out_);
    // Lane t reads t % 7 + 1 rows: 7 requests.
    expect_access(c, "before break", 7, sum_over_lanes([](int t) { return t % 7 + 1; }));
    c.expect("after break", global_store(4), whole_rows(1));
  }
  Counted c(kFile, "skip_by_continue", {{1}, {32}}, a, out_);
  // 9 rounds without a third of the lanes; each lane skips 3.
  expect_access(c, "not skipped", 9, 32 * 6);
}

TEST_F(CountsOfControl, EarlyReturn) {
  const Buffer<float> a = rows(1);
  Counted c(kFile, "early_return", {{1}, {32}}, a, out_);
  c.expect("before return", global_load(4), whole_rows(1));
  c.expect("after return", global_store(4), {1, 20, 3, 3, 3});  // 80 bytes
  c.expect_no_more();
}

TEST_F(CountsOfControl, WhileLoop) {
  // i → i + 1 up to 31: lane t reads 32 - t entries.
  std::vector<int> next(32);
  std::iota(next.begin(), next.end(), 1);
  next[31] = 31;
  const Buffer<int> chain(Target::cpu, next);
  Buffer<int> steps(Target::cpu, 32);
  Counted c(kFile, "follow_chain", {{1}, {32}}, chain, steps);
  expect_access(c, "chase", 32, 32 * 33 / 2);
  c.expect("after chase", global_store(4), whole_rows(1));
  EXPECT_EQ(steps.download()[5], 26);
}

TEST_F(CountsOfControl, LoopWithTwoExits) {
  const Buffer<float> a = rows(16), b = rows(16);
  Counted c(kFile, "two_exits", {{1}, {32}}, a, b, out_);
  // Lane t leaves in round t % 7 after the first part, or in round t % 5 + 2 after the second.
  const auto first = [](int t) { return std::min(t % 7, t % 5 + 2) + 1; };
  const auto second = [](int t) { return std::min(t % 7, t % 5 + 3); };
  // Nobody stays longer than lane 13: the first part in rounds 0 … 5, the second as often.
  expect_access(c, "first part", 6, sum_over_lanes(first));
  expect_access(c, "second part", 6, sum_over_lanes(second));
  c.expect("after two exits", global_store(4), whole_rows(1));
}

TEST_F(CountsOfControl, LoadsInConditions) {
  std::vector<float> rising(32 * 8);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<float>(i / 32);
  const Buffer<float> a(Target::cpu, rising), b(Target::cpu, std::vector<float>(32, 1.0f));
  Buffer<float> out(Target::cpu, 64);
  Counted c(kFile, "load_in_condition", {{1}, {32}}, a, b, out);
  expect_access(c, "while", 7, sum_over_lanes([](int t) { return t % 6 + 2; }));
  // limit = t % 6 + 1 > 3 for half of the residues: t % 6 = 3, 4, 5: five times each.
  c.expect("short circuit", global_load(4), {1, 15, 4, 2, 4});
  c.expect("short circuit", global_store(4), {1, 15, 4, 2, 4});
  c.expect("after conditions", global_store(4), whole_rows(1));
}

TEST_F(CountsOfControl, BinarySearch) {
  std::vector<int> sorted(1024), keys(32);
  std::iota(sorted.begin(), sorted.end(), 0);
  for (int t = 0; t < 32; ++t) keys[t] = t * 37 % 1024;
  const Buffer<int> in(Target::cpu, sorted), of_lanes(Target::cpu, keys);
  Buffer<int> found(Target::cpu, 32);
  Counted c(kFile, "binary_search", {{1}, {32}}, in, of_lanes, found, 1024);
  expect_access(c, "probe", 10, 320);  // log2(1024) steps for all
  c.expect("after search", global_store(4), whole_rows(1));
  EXPECT_EQ(found.download(), keys);
}

// The last warp of a block may be short, and is a warp all the same.
TEST_F(CountsOfControl, PartialWarps) {
  const Buffer<float> in = rows(4);
  Buffer<float> out(Target::cpu, in.size());
  const auto copy = [&](unsigned blocks, unsigned threads) {
    return Counted("counts_memory.cu", "copy_each<float>", {{blocks}, {threads}}, in, out);
  };
  Counted one = copy(1, 1);
  one.expect("copy load", global_load(4), {1, 1, 1, 1, 1});
  one.expect("copy store", global_store(4), {1, 1, 1, 1, 1});
  Counted two = copy(1, 48);  // 32 and 16 lanes: 4 and 2 sectors
  two.expect("copy load", global_load(4), {2, 48, 6, 6, 4});
  two.expect("copy store", global_store(4), {2, 48, 6, 6, 4});
  // Blocks of 33: warps of 32 and of 1. The second block begins 132 bytes in, one word into a
  // sector: 5 and 1 sectors.
  Counted odd = copy(2, 33);
  odd.expect("copy load", global_load(4), {4, 66, 4 + 1 + 5 + 1, 4 + 1 + 4 + 1, 5});
}

// ---- loops that outgrow a lane's log many times

TEST_F(CountsOfControl, LongUniformLoop) {
  const Buffer<float> a = rows(64);
  Counted c(kFile, "long_uniform", {{1}, {32}}, a, out_, 20000);
  c.expect("long uniform", global_load(4), whole_rows(20000));
  c.expect("after long uniform", global_store(4), whole_rows(1));
  c.expect_no_more();
}

TEST_F(CountsOfControl, LongLoopThatLanesLeave) {
  const Buffer<float> a = rows(64);
  constexpr int kRounds = 20000, kCommon = 5000;
  Counted c(kFile, "long_parting", {{1}, {32}}, a, out_, kRounds, kCommon);
  // Lane t makes 20,000 - 600·t rounds; lane 0 is there to the end.
  const auto rounds = [](int t) { return kRounds - 600 * t; };
  expect_access(c, "parting", kRounds, sum_over_lanes(rounds));
  // Once in 97 rounds, in round t, t + 97, …, each lane alone.
  const std::uint64_t alone = sum_over_lanes([&](int t) { return (rounds(t) - t + 96) / 97; });
  c.expect("now and then", global_load(4), {alone, alone, alone, alone, 1});
  c.expect("together again", global_load(4), whole_rows(kCommon));
  c.expect("after parting", global_store(4), whole_rows(1));
}

TEST_F(CountsOfControl, LongLoopsOfTwoHalves) {
  const Buffer<float> a = rows(64);
  for (const auto& [lower, upper] : {std::pair(20000, 7000), {3000, 20000}, {9000, 9000}}) {
    Counted c(kFile, "long_halves", {{1}, {32}}, a, out_, lower, upper);
    const auto low = static_cast<std::uint64_t>(lower), high = static_cast<std::uint64_t>(upper);
    c.expect("lower half", global_load(4), {low, 16 * low, 2 * low, 2 * low, 2});
    c.expect("upper half", global_load(4), {high, 16 * high, 2 * high, 2 * high, 2});
    c.expect("after halves", global_store(4), whole_rows(1));
    c.expect_no_more();
  }
}

TEST_F(CountsOfControl, LongNest) {
  const Buffer<float> a = rows(9);
  constexpr int kRounds = 3000;
  Counted c(kFile, "long_nest", {{1}, {32}}, a, out_, kRounds);
  // Lane t leaves at the end of round 2,999 - 10·t, so lane 0 goes through all.
  const auto last = [](int t) { return kRounds - 1 - 10 * t; };
  std::uint64_t requests = 0, lanes = 0;
  for (int i = 0; i < kRounds; ++i) {
    int longest = 0;
    for (int t = 0; t < 32; ++t) {
      if (i > last(t)) continue;
      const int trips = (t + i) % 9 + 1;
      lanes += static_cast<std::uint64_t>(trips);
      longest = std::max(longest, trips);
    }
    requests += static_cast<std::uint64_t>(longest);
  }
  expect_access(c, "long inner", requests, lanes);
  expect_access(c, "long outer", kRounds - 1, sum_over_lanes(last));
  c.expect("after long nest", global_store(4), whole_rows(1));
}

// ---- what is not memory

TEST_F(CountsOfControl, FusedMultiplyAdds) {
  const Buffer<float> a = rows(2);
  const Buffer<double> b(Target::cpu, std::vector<double>(32, 1.5));
  Counted c(kFile, "fused", {{1}, {32}}, a, b, out_);
  for (const char* mark : {"plus", "minus", "negated", "negated minus", "double"}) {
    c.expect_fmas(mark, 32);
  }
  c.expect_fmas("branch", 11);
  c.expect_fmas("loop", 31 * 32 / 2);  // 0 + 1 + … + 31
}

// As nvcc's code for sm_90a divides, where neither number is extreme. The source asks for none.
TEST_F(CountsOfControl, CompiledDivisionsAreMultiplyAdds) {
  const Buffer<float> a = rows(2);
  const Buffer<double> b(Target::cpu, std::vector<double>(32, 1.5));
  Counted source(kFile, "divisions", {{1}, {32}}, a, b, out_);
  source.expect_fmas("float division", 0);
  source.expect_fmas("double division", 0);
  executor::CompiledCode code;
  code.kernels[executor::without_flavours(source.counts().kernel)];
  const executor::AsCompiled as_compiled(code);
  Counted compiled(kFile, "divisions", {{1}, {32}}, a, b, out_);
  compiled.expect_fmas("float division", 5 * 32);
  compiled.expect_fmas("double division", 8 * 32);
}

TEST_F(CountsOfControl, BarriersOncePerWarp) {
  for (const auto& [threads, warps] : {std::pair(1u, 1u), {48u, 2u}, {96u, 3u}, {1024u, 32u}}) {
    Counted c(kFile, "barriers", {{5}, {threads}}, 7);
    c.expect_barriers("barrier", 5 * warps * 7);
    c.expect_no_more();
  }
}

TEST_F(CountsOfControl, ExchangesOncePerGroup) {
  Buffer<int> out(Target::cpu, 64);
  Counted c(kFile, "exchanges", {{1}, {64}}, out);
  c.expect_shuffles("whole warp", 2);     // its segments of 8 are one instruction
  c.expect_shuffles("lower shuffle", 2);  // once for each warp's lower half
  c.expect_shuffles("upper shuffle", 6);
  c.expect_shuffles("vote", 2);
  c.expect_shuffles("reduction", 2);
  c.expect_shuffles("warp barrier", 0);
  c.expect_shuffles("active mask", 0);
}

}  // namespace
}  // namespace warpladder::kernel_tests
