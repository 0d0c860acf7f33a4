#include "lab/verify.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "base/error.hpp"
#include "lab/kernel_name.hpp"
#include "ops/vector_add/problem.hpp"

namespace warpladder::lab {
namespace {

using Names = std::vector<std::string>;

CaseResult failed(const char* name, double bytes, int line) {
  CaseResult result{name, bytes, 2.0, "wrong", std::nullopt};
  if (line) result.broken = BrokenRule{"a.cu", line, "access out of bounds", "reads 4 bytes"};
  return result;
}

TEST(FailureGroups, AreByLineAndShowTheSmallestCase) {
  VerifyRow row;
  row.cases = {failed("large", 400, 7), {"right", 4, 0.5, "", std::nullopt},
               failed("wrong", 30, 0),  failed("small", 40, 7),
               failed("other", 8, 9),   failed("wrong too", 20, 0)};
  const std::vector<FailureGroup> groups = failure_groups(row);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].smallest->name, "small");
  EXPECT_EQ(groups[0].cases, 2u);
  EXPECT_EQ(groups[1].smallest->name, "wrong too");
  EXPECT_EQ(groups[1].cases, 2u);
  EXPECT_EQ(groups[2].smallest->name, "other");
  EXPECT_EQ(groups[2].cases, 1u);
  EXPECT_EQ(row.failures(), 5u);
}

TEST(FailureGroups, AreNoneWhereAllIsRight) {
  VerifyRow row;
  row.cases = {{"right", 4, 0.5, "", std::nullopt}};
  EXPECT_TRUE(failure_groups(row).empty());
}

Names flavours(Checking checking, const Names& names) {
  VerifyRequest request;
  request.rungs = select_once(names);
  request.checking = checking;
  request.shape = {{2, 2, 2}};
  Names found;
  for (const VerifyRow& row : verify(request)) found.emplace_back(name(row.flavour));
  return found;
}

TEST(Checking, SelectsFlavours) {
  const Names rungs{"sgemm/row_00_serial", "sgemm/row_01_naive"};
  EXPECT_EQ(flavours(Checking::each_access, rungs), (Names{"plain", "counted"}));
  EXPECT_EQ(flavours(Checking::results, rungs), (Names{"plain", "plain"}));
  EXPECT_EQ(flavours(Checking::both, {"sgemm/row_01_naive"}), (Names{"counted", "plain"}));
}

// What a report shows of each case; "-" of the cases that the rung does not take.
Names outcomes(const std::vector<VerifyRow>& rows) {
  Names lines;
  for (const VerifyRow& row : rows) {
    lines.push_back(
        fmt::format("{} {} {} -{}", row.rung, name(row.flavour), row.skipped, row.not_taken));
    for (const CaseResult& c : row.cases) {
      lines.push_back(
          fmt::format("{} {} {} {}", c.name, c.bytes, c.worst_error_over_bound, c.failure));
    }
  }
  return lines;
}

TEST(Threads, DoNotChangeTheRows) {
  VerifyRequest request;
  request.rungs =
      select_once({"transpose/01_naive", "transpose/10_in_place", "vector_add", "warp", "spmv/01*",
                   "sgemv/01*", "sgemm/row_00_serial", "sgemm/row_01_naive"});
  request.executor_threads = 1;
  const Names alone = outcomes(verify(request));
  for (const unsigned threads : {2u, 5u}) {
    request.executor_threads = threads;
    EXPECT_EQ(outcomes(verify(request)), alone) << threads;
  }
}

// Rungs of vector_add that are wrong on purpose, as the executor's counted flavour has them: they
// may run at the same time. What comes first in the list of cases takes longest.
class PlantedCases : public ::testing::Test {
 protected:
  using Call = vector_add::Call;
  static void add(const Call& call, runtime::StreamView&) {
    for (std::int64_t i = 0; i < call.n; ++i) call.c[i] = call.a[i] + call.b[i];
  }
  static void add_slowly(const Call& call, runtime::StreamView& stream) {
    add(call, stream);
    if (call.n < 33) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  // Of 32 and 33 elements, and of 255, where it gives up.
  static void add_wrongly(const Call& call, runtime::StreamView& stream) {
    add_slowly(call, stream);
    if (call.n == 32 || call.n == 33) call.c[1] += 1;
    if (call.n == 255) throw_resource("no 255");
  }
  static void add_to_many(const Call& call, runtime::StreamView& stream) {
    if (call.n == 31) throw_resource("no 31");
    add_wrongly(call, stream);
  }

  PlantedCases() {
    for (auto* launch : {add, add_wrongly}) plant(launch);
    rungs_.front().takes = [](const Call& call) { return call.n != 2; };
  }
  void plant(void (*launch)(const Call&, runtime::StreamView&)) {
    ladder::AnyRung& rung = rungs_.emplace_back();
    rung.op = "vector_add";
    rung.id = fmt::format("planted_{}", rungs_.size());
    rung.launch[static_cast<int>(runtime::Flavour::counted)] = launch;
    request_.stop_at_failure = true;
  }
  std::vector<VerifyRow> rows(unsigned threads, const Progress& progress = nullptr) {
    request_.executor_threads = threads;
    request_.rungs.clear();
    for (const ladder::AnyRung& rung : rungs_) {
      request_.rungs.push_back({&ops::find_operator("vector_add"), &rung});
    }
    return verify(request_, progress);
  }
  std::string refusal(unsigned threads) {
    try {
      rows(threads);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }

  std::deque<ladder::AnyRung> rungs_;
  VerifyRequest request_;
};

// Nothing behind the failure counts, however many cases have ended by then.
TEST_F(PlantedCases, StopAtTheFirstFailureInTheirOrder) {
  for (const unsigned threads : {1u, 2u, 8u}) {
    const std::vector<VerifyRow> found = rows(threads);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].cases.size(), 4u) << threads;  // of 0, 1, 31 and 32 elements
    EXPECT_EQ(found[0].not_taken, 1u) << threads;
    EXPECT_EQ(found[1].cases.size(), 5u) << threads;
    EXPECT_EQ(found[1].cases.back().name, "32");
    EXPECT_EQ(found[1].failures(), 1u);
  }
}

TEST_F(PlantedCases, ThrowTheFirstExceptionInTheirOrder) {
  request_.stop_at_failure = false;
  for (const unsigned threads : {1u, 2u, 8u}) EXPECT_EQ(refusal(threads), "no 255");
  plant(add_to_many);
  for (const bool stops : {false, true}) {
    request_.stop_at_failure = stops;
    for (const unsigned threads : {1u, 2u, 8u}) EXPECT_EQ(refusal(threads), "no 31");
  }
}

TEST_F(PlantedCases, TellTheirProgressOneByOne) {
  request_.stop_at_failure = false;
  rungs_.pop_back();
  plant(add_slowly);
  for (const unsigned threads : {1u, 2u, 8u}) {
    std::atomic<int> at_once{0};
    double last = -1;
    int calls = 0;
    rows(threads, [&](const std::string& what, double done) {
      EXPECT_EQ(++at_once, 1);
      EXPECT_TRUE(what.starts_with("vector_add/planted_")) << what;
      EXPECT_GT(done, last);
      EXPECT_LT(done, 1);
      last = done;
      ++calls;
      --at_once;
    });
    EXPECT_EQ(calls, 28);  // two rungs on 14 cases
  }
}

TEST(Selection, TakesPatterns) {
  const auto names_of = [](const std::string& pattern) {
    Names names;
    for (const Selected& s : select_once({pattern})) names.push_back(s.rung->full_name());
    return names;
  };
  EXPECT_EQ(names_of("sgemm/row_0[12]*"), (Names{"sgemm/row_01_naive", "sgemm/row_02_block_tile"}));
  EXPECT_EQ(names_of("*/01_one_per_thread").size(), 1u);
  EXPECT_EQ(names_of("vector_*"), names_of("vector_add"));
  EXPECT_THROW(select_once({"sgemm/rwo_*"}), Error);
}

TEST(KernelName, IsShort) {
  EXPECT_EQ(short_kernel_name("transpose::transpose"), "transpose::transpose");
  EXPECT_EQ(without_namespaces("warpladder::sgemm::gpu::f<sgemm::gpu::Tile<8>, true>"),
            without_namespaces("sgemm::counted::f<sgemm::counted::Tile<8>,true>"));
  EXPECT_EQ(without_namespaces("sgemm::f<4, (Mode)1>"), "sgemm::f<4,(Mode)1>");
  EXPECT_EQ(short_kernel_name("sgemm::multiply<true, false>"), "sgemm::multiply<true, false>");
  EXPECT_EQ(short_kernel_name("reduce::reduce<parts::counted::Sum, reduce::counted::Elements<4> >"),
            "reduce::reduce<…>");
  EXPECT_EQ(short_kernel_name("a::f<parts::counted::Sum>"), "a::f<parts::Sum>");
}

}  // namespace
}  // namespace warpladder::lab
