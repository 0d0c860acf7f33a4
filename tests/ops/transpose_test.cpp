// The transpose's arguments, and its judge: hand values and planted faults.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "lab/verify.hpp"
#include "ops/lab/checked.hpp"
#include "ops/transpose/lab/dispatch.hpp"
#include "ops/transpose/problem.hpp"

namespace warpladder::transpose {
namespace {

std::string refusal(const Problem& p) {
  try {
    ops::validate(p);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    return error.what();
  }
  return "";
}

TEST(TransposeProblem, CountsItsBytesByHand) {
  const Problem p = compact(3, 5, 2);
  EXPECT_EQ(p.ld_in, 5);
  EXPECT_EQ(p.ld_out, 3);
  EXPECT_EQ(p.stride_in, 15);
  EXPECT_EQ(minimal_bytes(p), 2 * 3 * 5 * 2 * 4);
  EXPECT_EQ(ops::footprint(p).in_elements, 30);
  Problem gaps = p;
  gaps.ld_in = 7;       // (3 - 1) · 7 + 5 = 19 elements a matrix
  gaps.stride_in = 20;  // the second begins at 20
  EXPECT_EQ(ops::footprint(gaps).in_elements, 39);
}

TEST(TransposeProblem, RefusesWhatCannotBe) {
  EXPECT_EQ(refusal(compact(3, 5, 2)), "");
  Problem p = compact(3, 5);
  p.rows = -1;
  EXPECT_EQ(refusal(p), "transpose: rows is -1, but must be at least 0");
  p = compact(3, 5);
  p.ld_in = 4;
  EXPECT_EQ(refusal(p), "transpose: ld_in is 4, but must be at least 5, the columns");
  p = compact(3, 5);
  p.ld_out = 2;
  EXPECT_EQ(refusal(p), "transpose: ld_out is 2, but must be at least 3, the rows");
  p = compact(3, 5, 2);
  p.stride_out = 14;
  EXPECT_EQ(refusal(p), "transpose: stride_out is 14, but a matrix takes 15 elements");
  p = compact(3, 5);
  p.ld_in = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(refusal(p), "transpose: in of 1 times 3x5 is too large to address");
}

// Every element of every matrix is in one part and one only, where the part says that it is.
TEST(TransposeProblem, FallsIntoPartsOfAGridsSize) {
  Problem p = compact(2, 11, 7);
  p.ld_out = 3;
  p.stride_in = 25;
  p.stride_out = 40;
  std::vector<float> in(static_cast<std::size_t>(ops::footprint(p).in_elements)),
      out(static_cast<std::size_t>(ops::footprint(p).out_elements));
  std::vector<int> in_seen(in.size()), out_seen(out.size());
  int parts = 0;
  for_each_part({p, in.data(), out.data()}, 4, 3, [&](const Call& part) {
    ++parts;
    const Problem& q = part.problem;
    EXPECT_LE(q.columns, 4);
    EXPECT_LE(q.batch, 3);
    for (std::int64_t m = 0; m < q.batch; ++m) {
      for (std::int64_t i = 0; i < q.rows; ++i) {
        for (std::int64_t j = 0; j < q.columns; ++j) {
          const auto from = part.in + m * q.stride_in + i * q.ld_in + j - in.data();
          const auto to = part.out + m * q.stride_out + j * q.ld_out + i - out.data();
          EXPECT_EQ(from / 25, to / 40);           // the matrix
          EXPECT_EQ(from % 25 / 11, to % 40 % 3);  // the row
          EXPECT_EQ(from % 25 % 11, to % 40 / 3);  // the column
          ++in_seen[static_cast<std::size_t>(from)];
          ++out_seen[static_cast<std::size_t>(to)];
        }
      }
    }
  });
  EXPECT_EQ(parts, 3 * 3);
  EXPECT_EQ(std::count(in_seen.begin(), in_seen.end(), 1), 2 * 11 * 7);
  EXPECT_EQ(std::count(out_seen.begin(), out_seen.end(), 1), 2 * 11 * 7);
  for_each_part({compact(5, 0), nullptr, nullptr}, 4, 3, [&](const Call&) { ADD_FAILURE(); });
}

TEST(TransposePlan, ChoosesByShape) {
  const auto chosen = [](const Problem& p) -> std::string {
    return plain::plan({p}, runtime::Machine()).id;
  };
  EXPECT_EQ(chosen(compact(4096, 4096)), "06_vector");
  EXPECT_EQ(chosen(compact(1000, 32)), "06_vector");
  EXPECT_EQ(chosen(compact(1000, 16)), "06_vector");
  EXPECT_EQ(chosen(compact(16, 1000)), "08_thin");
  EXPECT_EQ(chosen(compact(1000, 12)), "08_thin");
  EXPECT_EQ(chosen(compact(1001, 3003)), "07_rotated");
  EXPECT_EQ(chosen(compact(4097, 4096)), "09_whole_sectors");
  EXPECT_EQ(chosen(compact(101, 103, 1000)), "09_whole_sectors");
  EXPECT_EQ(chosen(compact(8, 8, 100000)), "12_small_batch");
  EXPECT_EQ(chosen(compact(64, 64, 1000)), "06_vector");
  EXPECT_EQ(chosen(compact(63, 64, 1000)), "12_small_batch");
  EXPECT_EQ(chosen(compact(65, 66, 1000)), "07_rotated");
  Problem apart = compact(7, 5, 1000);
  apart.stride_out += 1;
  EXPECT_EQ(chosen(apart), "08_thin");
  EXPECT_EQ(chosen(compact(4096, 33)), "08_thin");
  EXPECT_EQ(chosen(compact(63, 4096)), "08_thin");
  Problem odd_ld = compact(128, 128);
  odd_ld.ld_in = 129;
  EXPECT_EQ(chosen(odd_ld), "07_rotated");
  Problem gaps = compact(4096, 33);
  gaps.ld_in = 35;
  EXPECT_EQ(chosen(gaps), "07_rotated");
  gaps = compact(33, 4096);
  gaps.ld_in = 4097;  // the short side is the output's
  EXPECT_EQ(chosen(gaps), "08_thin");
  EXPECT_EQ(choose(compact(8, 8), runtime::Target::cpu).id, "01_naive");
}

struct Counted {
  ladder::Totals counted, predicted;
};
Counted count(const char* id, const std::vector<std::int64_t>& shape) {
  const ladder::AnyRung& rung = ladder::find_rung("transpose", id);
  const auto trial =
      ops::find_operator("transpose").case_of_shape(shape).prepare(runtime::Target::cpu);
  device::Stream stream(runtime::Target::cpu);
  std::vector<executor::KernelCounts> counts;
  stream.record_counts = &counts;
  trial->reset();
  rung.launcher(runtime::Flavour::counted)(trial->call(), stream);
  return {ladder::totals_of(counts), rung.predict(trial->call(), runtime::Machine())};
}

// 08_thin's own roads, which no problem of the common prediction test takes.
TEST(ThinTranspose, AsksForWhatItsHeaderSays) {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{4096, 33},
                                                 {33, 4096},
                                                 {640, 1},
                                                 {1, 640},
                                                 {128, 63},
                                                 {7, 640},
                                                 {640, 15},
                                                 {15, 640},
                                                 {128, 25},
                                                 {25, 128}}) {
    const Counted c = count("08_thin", shape);
    EXPECT_TRUE(c.counted == c.predicted) << shape[0] << 'x' << shape[1];
  }
}

// Output rows of 641 words begin at every place of a sector in turn. 09 asks for each sector that a
// row touches once; 07 once more at each edge of a tile.
TEST(ShearedTranspose, WritesWholeSectors) {
  constexpr std::int64_t kRows = 641, kColumns = 256;  // 5 tiles of 128 and one row
  const ladder::Totals sheared = count("09_whole_sectors", {kRows, kColumns}).counted,
                       rotated = count("07_rotated", {kRows, kColumns}).counted;
  std::uint64_t touched = 0;  // sectors, row by row of the output
  for (std::int64_t j = 0; j < kColumns; ++j) {
    touched += static_cast<std::uint64_t>(((j + 1) * kRows - 1) / 8 - j * kRows / 8 + 1);
  }
  EXPECT_EQ(sheared.global_store_sectors, touched);
  EXPECT_GT(rotated.global_store_sectors, touched + touched / 25);
}

// What a rung with a fault would do, one fault each.
enum class Fault { none, left_out, off_by_one, in_the_gap, behind, to_the_input };
Fault planted = Fault::none;

void launch_planted(const Call& call, runtime::StreamView&) {
  const Problem& p = call.problem;
  for (std::int64_t m = 0; m < p.batch; ++m) {
    for (std::int64_t i = 0; i < p.rows; ++i) {
      for (std::int64_t j = 0; j < p.columns; ++j) {
        if (planted == Fault::left_out && i == p.rows - 1 && j == p.columns - 1) continue;
        const std::int64_t from = planted == Fault::off_by_one && i + j == 0 ? 1 : i * p.ld_in + j;
        call.out[m * p.stride_out + j * p.ld_out + i] = call.in[m * p.stride_in + from];
      }
    }
  }
  if (p.rows * p.columns < 2 || p.batch == 0) return;
  if (planted == Fault::in_the_gap && p.ld_out > p.rows) call.out[p.rows] = 1;
  if (planted == Fault::behind) call.out[ops::footprint(p).out_elements] = 1;
  if (planted == Fault::to_the_input) const_cast<float*>(call.in)[1] = 7;
}

std::size_t failures() {
  ladder::AnyRung rung;
  rung.op = "transpose";
  rung.id = "planted";
  rung.launch[static_cast<int>(runtime::Flavour::plain)] = launch_planted;
  rung.takes = [](const Call& call) { return !call.in_place(); };
  lab::VerifyRequest request;
  request.rungs = {{&ops::find_operator("transpose"), &rung}};
  return lab::verify(request)[0].failures();
}

TEST(TransposeJudge, CatchesPlantedFaults) {
  planted = Fault::none;
  EXPECT_EQ(failures(), 0);
  for (const Fault fault : {Fault::left_out, Fault::off_by_one, Fault::in_the_gap, Fault::behind,
                            Fault::to_the_input}) {
    planted = fault;
    EXPECT_GT(failures(), 0) << static_cast<int>(fault);
  }
}

}  // namespace
}  // namespace warpladder::transpose
