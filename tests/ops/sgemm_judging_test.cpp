// Large products are judged row by row in part: what that must still catch.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ops/lab/operator.hpp"
#include "ops/lab/rival.hpp"
#include "ops/sgemm/lab/cases.hpp"

namespace warpladder::sgemm {
namespace {

TEST(JudgedRows, AreAllOfASmallProduct) {
  const std::vector<std::int64_t> rows = judged_rows(compact(300, 20, 30));
  ASSERT_EQ(rows.size(), 300);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i], static_cast<std::int64_t>(i));
  EXPECT_TRUE(judged_rows(compact(0, 20, 30)).empty());
  EXPECT_EQ(judged_rows(compact(100, 1 << 20, 1 << 20)).size(), 100) << "few rows, however long";
}

TEST(JudgedRows, LeaveNoBandOfALargeProductOut) {
  for (const std::int64_t m : {131, 4096, 4097, 16384}) {
    const std::vector<std::int64_t> rows = judged_rows(compact(m, 1 << 16, 1 << 16));
    EXPECT_TRUE(std::ranges::is_sorted(rows));
    EXPECT_EQ(rows.front(), 0);
    EXPECT_EQ(rows.back(), m - 1);
    EXPECT_LE(rows.size(), 130);
    std::set<std::int64_t> bands;
    for (const std::int64_t row : rows) {
      for (std::int64_t band = 0; band < 128; ++band) {
        if (m * band / 128 <= row && row < m * (band + 1) / 128) bands.insert(band);
      }
    }
    EXPECT_EQ(bands.size(), 128) << m;
    EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), rows.size()) << "each once";
  }
}

TEST(LargeTrial, CatchesPlantedFaults) {
  const std::vector<std::int64_t> shape{5000, 1000, 1001};
  const auto trial = ops::find_operator("sgemm").case_of_shape(shape).prepare(runtime::Target::cpu);
  EXPECT_NE(trial->judged_in_part(), "");
  device::Stream stream(runtime::Target::cpu);
  const Call& call = trial->call().as<Call>();
  trial->reset();
  EXPECT_FALSE(trial->judge().passed()) << "nothing was written";
  ops::rivals_of("sgemm", runtime::Target::cpu)[0]->launch(call, stream);
  EXPECT_EQ(trial->judge().failure, "");

  const std::vector<std::int64_t> rows = judged_rows(call.problem);
  float& judged = call.c[rows[77] * 1000 + 999];
  const float right = judged;
  judged = right + 1;
  EXPECT_NE(trial->judge().failure.find("C(" + std::to_string(rows[77]) + ",999) is "),
            std::string::npos);
  judged = right;

  std::int64_t unjudged = 1;
  while (std::ranges::binary_search(rows, unjudged)) ++unjudged;
  call.c[unjudged * 1000 + 5] = NAN;
  EXPECT_EQ(trial->judge().failure,
            "C(" + std::to_string(unjudged) + ",5) is nan, which is no number");
}

}  // namespace
}  // namespace warpladder::sgemm
