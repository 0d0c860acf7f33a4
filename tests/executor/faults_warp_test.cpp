// Barriers and warp-wide exchanges used against their rules. Each fault is caught in both flavours
// of the CPU, with the line, the thread and the reason; and the clean twin passes.

#include "kernels/planted.hpp"

namespace warpladder::kernel_tests {
namespace {

struct Case {
  std::string kernel;
  Expected expected;
  unsigned threads = 64;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.kernel; }

const Case kCases[] = {
    {"barrier_in_branch",
     {FaultKind::divergent_barrier,
      "faults_warp.cu",
      "the others' barrier",
      63,
      {"waits here while other threads wait at the barrier of", "faults_warp.cu"}}},
    {"barrier_after_exit",
     {FaultKind::divergent_barrier,
      "faults_warp.cu",
      "some have left",
      0,
      {"40 threads wait at __syncthreads", "24 have exited, such as thread (40,0,0)"}}},
    {"barrier_of_one",
     {FaultKind::divergent_barrier,
      "faults_warp.cu",
      "one is left",
      3,
      {"1 thread waits at __syncthreads", "63 have exited, such as thread (0,0,0)"}}},
    {"two_barriers",
     {FaultKind::divergent_barrier,
      "faults_warp.cu",
      "the second warp's barrier",
      63,
      {"waits here while other threads wait at the barrier of"}}},
    {"exchange_against_barrier",
     {FaultKind::deadlock,
      "faults_warp.cu",
      "waits for ever",
      0,
      {"32 threads wait here for lanes of their warp that never come",
       "32 threads wait at __syncthreads", "0 have exited"}}},
    {"shuffle_in_a_branch",
     {FaultKind::deadlock,
      "faults_warp.cu",
      "eight lanes skip this",
      8,
      {"48 threads wait here for lanes of their warp that never come: lane 0 waits at"}}},
    {"different_masks",
     {FaultKind::deadlock, "faults_warp.cu", "masks differ", 0, {"64 threads wait here"}}},
    {"different_exchanges",
     {FaultKind::deadlock, "faults_warp.cu", "a vote is waited for", 0, {"never come"}}},
    {"product_of_half_a_warp",
     {FaultKind::bad_warp_mask,
      "faults_warp.cu",
      "upper half",
      0,
      {"mask 0xffffffff names lanes 0xffff0000, which have exited"}}},
    {"shuffle_without_itself",
     {FaultKind::bad_warp_mask,
      "faults_warp.cu",
      "lane 16 is left out",
      16,
      {"lane 16 calls with mask 0x0000ffff, which leaves it out"}}},
    {"vote_without_itself",
     {FaultKind::bad_warp_mask, "faults_warp.cu", "vote", 3, {"lane 3", "0xfffffff7"}}},
    {"reduction_without_itself",
     {FaultKind::bad_warp_mask, "faults_warp.cu", "reduction", 3, {"lane 3", "0xfffffff7"}}},
    {"warp_barrier_without_itself",
     {FaultKind::bad_warp_mask, "faults_warp.cu", "warp barrier", 3, {"lane 3", "0xfffffff7"}}},
    {"shuffle_from_exited",
     {FaultKind::inactive_lane_shuffle,
      "faults_warp.cu",
      "exited",
      0,
      {"lane 0 reads from lane 31", "0xffffffff"}}},
    {"shuffle_from_nobody",
     {FaultKind::inactive_lane_shuffle,
      "faults_warp.cu",
      "never were",
      32,
      {"lane 0 reads from lane 16", "0xffffffff"}},
     48},
    {"shuffle_from_outside",
     {FaultKind::inactive_lane_shuffle,
      "faults_warp.cu",
      "lane 16",
      15,
      {"lane 15 reads from lane 16", "0x0000ffff"}}},
    {"shuffle_from_odd_lane",
     {FaultKind::inactive_lane_shuffle,
      "faults_warp.cu",
      "odd",
      0,
      {"lane 0 reads from lane 3", "0x55555555"}}},
    {"shuffle_width",
     {FaultKind::bad_warp_mask, "faults_warp.cu", "width", 0, {"shuffle width 12"}}},
};

class WarpFaults : public ::testing::TestWithParam<std::tuple<Flavour, Case>> {};

TEST_P(WarpFaults, AreCaughtAndTheTwinPasses) {
  const auto& [flavour, planted] = GetParam();
  Buffer<int> out(Target::cpu, 128);
  const Arguments arguments = arguments_of({{3}, {planted.threads}}, out);
  for (const unsigned os_threads : {1u, 4u}) {
    device::Stream stream(Target::cpu);
    stream.executor_threads = os_threads;
    expect_fault(stream, flavour, planted.kernel + "<true>", arguments, planted.expected);
    EXPECT_NO_THROW(launch(stream, flavour, planted.kernel + "<false>", arguments));
  }
}
INSTANTIATE_TEST_SUITE_P(Planted, WarpFaults,
                         ::testing::Combine(::testing::Values(Flavour::plain, Flavour::counted),
                                            ::testing::ValuesIn(kCases)),
                         [](const auto& test) {
                           return std::get<1>(test.param).kernel + "_" +
                                  name_of(std::get<0>(test.param));
                         });

}  // namespace
}  // namespace warpladder::kernel_tests
