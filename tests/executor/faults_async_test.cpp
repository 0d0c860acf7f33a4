// mbarriers, the copy engine, clusters and the tensor cores used against their rules. Each fault is
// caught in both flavours of the CPU, with the line, the thread and the reason; and the clean twin
// passes. What no rule forbids gives wrong results: they are as wrong as on a GPU that is as late
// as it may be.

#include <algorithm>

#include "kernels/planted.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr const char* kFile = "faults_async.cu";
constexpr std::size_t kShared = 2 * 8192;

struct Case {
  std::string kernel;
  Expected expected;
  unsigned threads = 128, cluster = 1;
  bool counted_only = false;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.kernel; }

const Case kCases[] = {
    {"lanes_apart",
     {FaultKind::tensor_core_misuse,
      kFile,
      "the other half",
      16,
      {"the lanes of the warp are not together", "lane 0 is at"}}},
    {"row_off_its_place",
     {FaultKind::misaligned_access, kFile, "off by 8", 37, {"16 bytes", "8 bytes off"}}},
    {"row_behind_the_end",
     {FaultKind::out_of_bounds, kFile, "end", 5, {"a matrix's row at byte 16384 of 16384 bytes"}}},
    {"row_that_nobody_wrote",
     {FaultKind::uninitialised_shared_read, kFile, "nobody wrote", 31},
     128,
     1,
     true},
    {"copies_not_waited_for",
     {FaultKind::unwaited_async_copy, kFile, "too early", 0, {"has not been waited for"}},
     128,
     1,
     true},
    {"copies_too_many",
     {FaultKind::mbarrier_misuse,
      kFile,
      "129 arrivals",
      126,
      {"an arrival too many", "1 threads' copies"}}},
    {"never_initialised",
     {FaultKind::mbarrier_misuse,
      kFile,
      "not initialised",
      0,
      {"the mbarrier at byte 24 of dynamic shared memory has not been initialised"}}},
    {"one_arrival_too_many",
     {FaultKind::mbarrier_misuse,
      kFile,
      "too many",
      127,
      {"an arrival too many", "at byte 1024", "has had the 128 of this phase", "1024 bytes"}}},
    {"missing_arrival",
     {FaultKind::deadlock,
      kFile,
      "an arrival is missing",
      0,
      {"still waits for 1 of 128 arrivals and for 0 bytes", "128 threads wait at mbarriers"}}},
    {"lane_waits_for_ever",
     {FaultKind::deadlock,
      kFile,
      "for ever",
      2,
      {"still waits for 1 of 1 arrivals", "1 thread waits at mbarriers", "96 have exited"}}},
    {"parity_of_the_next_phase",
     {FaultKind::deadlock, kFile, "the next phase", 0, {"still waits for 128 of 128 arrivals"}}},
    {"parity_that_counts_on",
     {FaultKind::mbarrier_misuse, kFile, "parity 2", 3, {"waits for parity 2"}}},
    {"missing_expectation",
     {FaultKind::mbarrier_misuse,
      kFile,
      "nothing announced",
      0,
      {"1024 bytes are on their way to it that nobody has announced"}}},
    {"too_much_expected",
     {FaultKind::deadlock,
      kFile,
      "half never comes",
      0,
      {"still waits for 0 of 1 arrivals and for 1024 bytes that no copy will bring"}}},
    {"nobody_waits",
     {FaultKind::unwaited_async_copy, kFile, "on its way", 0, {"the block ends before this copy"}}},
    {"column_within_16_bytes",
     {FaultKind::copy_engine_misuse,
      kFile,
      "column 1",
      0,
      {"the box begins at byte 4 of its rows, which is no multiple of 16"}}},
    {"destination_off_the_swizzle",
     {FaultKind::copy_engine_misuse,
      kFile,
      "byte 128",
      0,
      {"the destination is byte 128 of dynamic shared memory, which is no multiple of 1024"}}},
    {"lines_that_are_not_there",
     {FaultKind::out_of_bounds,
      kFile,
      "past the end",
      0,
      {"the box at row 4, column 0 reads 1024 bytes", "0 bytes past the end of an allocation of"}}},
    {"arrive_too_early",
     {FaultKind::mbarrier_misuse,
      kFile,
      "not there yet",
      0,
      {"at byte 0 of dynamic shared memory of block 1 of the cluster has not been initialised"}},
     128,
     2},
    {"store_too_early",
     {FaultKind::mbarrier_misuse,
      kFile,
      "no barrier yet",
      0,
      {"the mbarrier at byte 0 of dynamic shared memory of block 1 of the cluster has not been "
       "initialised"}},
     128,
     2},
    {"store_counted_elsewhere",
     {FaultKind::mbarrier_misuse,
      kFile,
      "counts here",
      0,
      {"does not lie in the dynamic shared memory of the block whose mbarrier it counts at"}},
     128,
     2},
    {"store_in_no_cluster",
     {FaultKind::mbarrier_misuse,
      kFile,
      "no cluster",
      0,
      {"counts at an mbarrier, in a launch without clusters"}}},
    {"store_nobody_waits_for",
     {FaultKind::unwaited_async_copy,
      kFile,
      "nobody waits",
      0,
      {"the block ends before this copy"},
      1},
     128,
     2},
    {"not_all_at_the_cluster_barrier",
     {FaultKind::divergent_barrier,
      kFile,
      "not all",
      0,
      {"228 threads of the cluster wait at its barrier", "28 have exited"}},
     128,
     2},
    {"not_all_at_the_named_barrier",
     {FaultKind::divergent_barrier,
      kFile,
      "64 of 96",
      0,
      {"64 threads wait at named barriers; at barrier 1 64 of 96", "64 have exited"}}},
    {"half_warps_at_the_named_barrier",
     {FaultKind::divergent_barrier,
      kFile,
      "half warps",
      111,
      {"barrier 2 has its 64 threads, but not of whole warps"}}},
    {"counts_that_disagree",
     {FaultKind::divergent_barrier,
      kFile,
      "64 instead of 128",
      64,
      {"waits for 64 threads at barrier 3, where others wait for 128"}}},
    {"block_outside_of_the_cluster",
     {FaultKind::out_of_bounds, kFile, "block 2", 0, {"block 2 of a cluster of 2"}},
     128,
     2},
    {"variable_in_a_cluster",
     {FaultKind::out_of_bounds, kFile, "not dynamic", 0, {"have only dynamic shared memory here"}},
     128,
     2,
     true},
    {"lanes_that_disagree",
     {FaultKind::tensor_core_misuse,
      kFile,
      "lane 77",
      77,
      {"the lanes of a warpgroup disagree: lane 77"}}},
    {"warp_that_stays_away",
     {FaultKind::deadlock,
      kFile,
      "three warps",
      32,
      {"96 threads wait here for threads of their warpgroup", "32 have exited"}}},
    {"half_a_warpgroup",
     {FaultKind::tensor_core_misuse,
      kFile,
      "half",
      128,
      {"the block's 192 threads do not fill this warpgroup"}},
     192},
    {"other_swizzle",
     {FaultKind::tensor_core_misuse, kFile, "swizzle", 0, {"is not one that tile_descriptor()"}}},
    {"tile_off_the_swizzle",
     {FaultKind::tensor_core_misuse, kFile, "byte 128 of A", 0, {"a tile at byte 128"}}},
    {"tile_past_the_end",
     {FaultKind::out_of_bounds,
      kFile,
      "past",
      0,
      {"a tile of 64 lines at byte 9216 of 16384 bytes of dynamic shared memory"}}},
};

bool takes_a_map(const std::string& kernel) {
  static const std::string with_maps[] = {
      "one_arrival_too_many",    "missing_expectation", "too_much_expected",
      "column_within_16_bytes",  "nobody_waits",        "destination_off_the_swizzle",
      "lines_that_are_not_there"};
  return std::ranges::find(with_maps, kernel) != std::end(with_maps);
}

class AsyncFaults : public ::testing::TestWithParam<std::tuple<Flavour, Case>> {};

TEST_P(AsyncFaults, AreCaughtAndTheTwinPasses) {
  const auto& [flavour, planted] = GetParam();
  if (planted.counted_only && flavour == Flavour::plain) {
    GTEST_SKIP() << "the plain flavour checks no access";
  }
  Buffer<float> out(Target::cpu, 256);
  const Buffer<float> matrix(Target::cpu, whole_numbers(8 * 32));
  const auto map = device::encode(Target::cpu, {matrix.data(), 4, 16, 32, 32, 8});
  const Shape shape{{2 * planted.cluster}, {planted.threads}, kShared, planted.cluster};
  const Arguments arguments =
      takes_a_map(planted.kernel) ? arguments_of(shape, map, out) : arguments_of(shape, out);
  for (const unsigned os_threads : {1u, 2u}) {
    device::Stream stream(Target::cpu);
    stream.executor_threads = os_threads;
    expect_fault(stream, flavour, planted.kernel + "<true>", arguments, planted.expected);
    EXPECT_NO_THROW(launch(stream, flavour, planted.kernel + "<false>", arguments));
  }
}
INSTANTIATE_TEST_SUITE_P(Planted, AsyncFaults,
                         ::testing::Combine(::testing::Values(Flavour::plain, Flavour::counted),
                                            ::testing::ValuesIn(kCases)),
                         [](const auto& test) {
                           return std::get<1>(test.param).kernel + "_" +
                                  name_of(std::get<0>(test.param));
                         });

class TooEarly : public ::testing::TestWithParam<Flavour> {
 protected:
  // What the kernel's 128 threads put out.
  template <class... Values>
  std::vector<float> results(const std::string& kernel, const Values&... values) {
    Buffer<float> out(Target::cpu, 128);
    device::Stream stream(Target::cpu);
    run(stream, GetParam(), kernel, {{1}, {128}, kShared}, values..., out);
    return out.download();
  }
};
INSTANTIATE_TEST_SUITE_P(Flavours, TooEarly, ::testing::Values(Flavour::plain, Flavour::counted),
                         [](const auto& flavour) { return name_of(flavour.param); });

TEST_P(TooEarly, WhoReadsBeforeWaitingReadsWhatWasThere) {
  const Buffer<float> matrix(Target::cpu, std::vector<float>(8 * 32, 3.0f));
  const auto map = device::encode(Target::cpu, {matrix.data(), 4, 8, 32, 32, 8});
  EXPECT_EQ(results("read_before_waiting<true>", map), std::vector<float>(128, -1.0f));
  EXPECT_EQ(results("read_before_waiting<false>", map), std::vector<float>(128, 3.0f));
}

TEST_P(TooEarly, SumsAreNotThereBeforeTheirGroupIsWaitedFor) {
  for (const std::string kernel : {"lax_wait", "missing_commit"}) {
    EXPECT_EQ(results(kernel + "<true>"), std::vector<float>(128, 5.0f)) << kernel;
    EXPECT_EQ(results(kernel + "<false>"), std::vector<float>(128, 16.0f)) << kernel;
  }
}

TEST(Clusters, AWrongSizeIsRefused) {
  Buffer<int> out(Target::cpu, 12 * 32);
  device::Stream stream(Target::cpu);
  const auto launch_of = [&](unsigned blocks, unsigned cluster) {
    run(stream, Flavour::plain, "ask_the_neighbour", {{blocks}, {32}, 1024, cluster}, out,
        static_cast<int>(cluster));
  };
  EXPECT_NO_THROW(launch_of(12, 3));
  for (const auto& [blocks, cluster] : {std::pair{12u, 5u}, {17u, 17u}, {4u, 8u}, {4u, 0u}}) {
    try {
      launch_of(blocks, cluster);
      ADD_FAILURE() << "clusters of " << cluster << " in " << blocks << " blocks";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_NE(std::string(error.what()).find("clusters of " + std::to_string(cluster)),
                std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace warpladder::kernel_tests
