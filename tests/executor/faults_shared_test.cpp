// Shared memory read before it is written, and races. Each is caught in the counted flavour, with
// the line, the thread and the reason; and the clean twin passes.

#include "kernels/planted.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr const char* kFile = "faults_shared.cu";
constexpr auto kUnwritten = FaultKind::uninitialised_shared_read;
constexpr auto kRace = FaultKind::shared_memory_race;

struct Case {
  std::string kernel;
  Expected expected;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.kernel; }

// The lanes of a warp run one after the other, up to where they must wait, and so do the warps.
// Which thread is the first to break the rule follows from that.
const Case kCases[] = {
    // Threads 50 … 63 write nothing, and thread 0 reads what was 63's.
    {"read_unwritten", {kUnwritten, kFile, "unwritten", 0, {"no thread of the block has written"}}},
    {"read_unwritten_dynamic", {kUnwritten, kFile, "unwritten dynamic", 0}},
    {"inherit", {kUnwritten, kFile, "inherited", 0, {"block (1,0,0)"}, 1}},
    {"read_half_written", {kUnwritten, kFile, "half written", 0}},
    {"add_to_unwritten", {kUnwritten, kFile, "unwritten sum", 0}},
    {"read_before_write",
     {kRace,
      kFile,
      "read before write",
      0,
      {"reads shared memory before thread 63 writes it", "is a __syncthreads() missing?"}}},
    {"warp_read_before_write",
     {kRace,
      kFile,
      "read before the neighbour writes",
      0,
      {"reads shared memory before thread 1 writes it", "is a __syncwarp() missing?"}}},
    {"add_before_start",
     {kRace, kFile, "add before start", 0, {"before thread 40 writes it, with no barrier"}}},
    {"past_an_array",
     {FaultKind::out_of_bounds,
      kFile,
      "past an array",
      63,
      {"writes 4 bytes 0 bytes past the end of other, 260 bytes of shared memory"}}},
    {"past_the_dynamic",
     {FaultKind::out_of_bounds,
      kFile,
      "past the dynamic",
      63,
      {"0 bytes past the end of the launch's 512 bytes of dynamic shared memory"}}},
    {"write_after_many_reads",
     {kRace, kFile, "write after many reads", 63, {"writes shared memory that thread 0 read"}}},
    {"flag_for_all", {kRace, kFile, "another value", 42, {"writes shared memory that thread 39"}}},
    {"built_in_shared", {kUnwritten, kFile, "never built", 0}},
    {"warp_reads_then_first_writes",
     {kRace, kFile, "own read first", 0, {"writes shared memory that thread 31 read"}}},
    {"read_after_write",
     {kRace, kFile, "read after write", 32, {"reads shared memory that thread 31 wrote"}}},
    {"write_after_read",
     {kRace, kFile, "write after read", 32, {"writes shared memory that thread 31 read"}}},
    {"write_after_write",
     {kRace, kFile, "write after write", 32, {"writes shared memory that thread 31 wrote"}}},
    {"tile_loop",
     {kRace,
      kFile,
      "overwritten too early",
      32,
      {"reads shared memory that thread 0 wrote", "no barrier in between"}}},
    {"plain_against_atomic",
     {kRace, kFile, "plain against atomic", 63, {"reads shared memory that thread 62 wrote"}}},
    {"atomic_against_plain",
     {kRace, kFile, "atomic against plain", 1, {"writes shared memory that thread 0 wrote"}}},
    {"warp_read_after_write",
     {kRace, kFile, "neighbour's value", 1, {"reads shared memory that thread 0 wrote"}}},
    {"warp_write_after_read",
     {kRace, kFile, "neighbour may still read", 1, {"writes shared memory that thread 0 read"}}},
    {"warp_write_after_write",
     {kRace, kFile, "neighbour's word", 1, {"writes shared memory that thread 0 wrote"}}},
    // Lane 0 runs through all steps and reads word 1 in the last; then lane 1 comes to its first.
    {"warp_sum_in_step", {kRace, kFile, "in step", 1, {"writes shared memory that thread 0 read"}}},
    {"shuffle_as_barrier",
     {kRace, kFile, "shuffle is no barrier", 0, {"reads shared memory that thread 3 wrote"}}},
    {"warp_barrier_across_warps",
     {kRace, kFile, "other warp", 32, {"reads shared memory that thread 0 wrote"}}},
};

class SharedFaults : public ::testing::TestWithParam<Case> {};

TEST_P(SharedFaults, AreCaughtAndTheTwinPasses) {
  Buffer<float> out(Target::cpu, 256);
  const Arguments arguments = arguments_of({{3}, {64}, 512}, out);
  for (const unsigned os_threads : {1u, 4u}) {
    device::Stream stream(Target::cpu);
    stream.executor_threads = os_threads;
    expect_fault(stream, Flavour::counted, GetParam().kernel + "<true>", arguments,
                 GetParam().expected);
    EXPECT_NO_THROW(launch(stream, Flavour::counted, GetParam().kernel + "<false>", arguments));
    // Without the checks nothing is refused.
    stream.check_shared_memory = false;
    EXPECT_NO_THROW(launch(stream, Flavour::counted, GetParam().kernel + "<true>", arguments));
  }
}
INSTANTIATE_TEST_SUITE_P(Planted, SharedFaults, ::testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.kernel; });

TEST(SharedFaults, CopiesAreForTheirOwnThreadUntilABarrier) {
  const Buffer<float> in(Target::cpu, whole_numbers(64));
  Buffer<float> out(Target::cpu, 64);
  device::Stream stream(Target::cpu);
  const Arguments arguments = arguments_of({{1}, {64}}, in, out);
  expect_fault(
      stream, Flavour::counted, "copy_without_barrier<true>", arguments,
      {kRace, kFile, "copied by another", 32, {"reads shared memory that thread 31 wrote"}});
  EXPECT_NO_THROW(launch(stream, Flavour::counted, "copy_without_barrier<false>", arguments));
}

TEST(SharedFaults, BytesOfAWordAreToldApart) {
  device::Stream stream(Target::cpu);
  Buffer<short> shorts(Target::cpu, 64);
  Buffer<signed char> chars(Target::cpu, 64);
  const Shape shape{{1}, {64}};
  EXPECT_NO_THROW(run(stream, Flavour::counted, "narrow_neighbours<short>", shape, shorts));
  EXPECT_NO_THROW(run(stream, Flavour::counted, "narrow_neighbours<signed char>", shape, chars));
  EXPECT_EQ(shorts.download()[33], 2);  // thread 1's
  EXPECT_EQ(chars.download()[62], 63);
  // Of a word's four writers the last is remembered, so it is its byte that is caught.
  const Arguments arguments = arguments_of(shape, chars);
  expect_fault(stream, Flavour::counted, "narrow_race<true>", arguments,
               {kRace, kFile, "narrow race", 35, {"reads shared memory that thread 3 wrote"}});
  expect_fault(stream, Flavour::counted, "narrow_unwritten<true>", arguments,
               {kUnwritten, kFile, "narrow unwritten", 63 - 21});
  EXPECT_NO_THROW(launch(stream, Flavour::counted, "narrow_race<false>", arguments));
  EXPECT_NO_THROW(launch(stream, Flavour::counted, "narrow_unwritten<false>", arguments));
}

}  // namespace
}  // namespace warpladder::kernel_tests
