// The operator spmv beyond what all operators share. Hand values, matrices of shapes and of the
// user's folder, the plan, the same bits from any number of threads, and the judge's planted
// faults.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "base/matrix_market.hpp"
#include "base/testing.hpp"
#include "lab/verify.hpp"
#include "ops/lab/checked.hpp"
#include "ops/spmv/lab/cases.hpp"
#include "ops/spmv/lab/dispatch.hpp"
#include "ops/spmv/lab/generators.hpp"
#include "ops/spmv/lab/operands.hpp"
#include "ops/spmv/lab/reference.hpp"
#include "ops/spmv/lab/row_statistics.hpp"

namespace warpladder::spmv {
namespace {

using testing::sentence_of;
using testing::TempDir;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(SpmvProblem, RefusesWhatItCannotBe) {
  const auto refusal = [](const Problem& p) { return sentence_of([&] { ops::validate(p); }); };
  EXPECT_EQ(refusal({-1, 1, 0}), "spmv: rows must not be negative, it is -1");
  EXPECT_EQ(refusal({1, -2, 0}), "spmv: columns must not be negative, it is -2");
  EXPECT_EQ(refusal({1, 1, -3}), "spmv: nnz must not be negative, it is -3");
  EXPECT_EQ(refusal({1, std::int64_t{1} << 31, 0}),
            "spmv: columns must not be above 2147483647, it is 2147483648");
  EXPECT_EQ(refusal({std::int64_t{1} << 31, 1, 0}),
            "spmv: rows must not be above 2147483647, it is 2147483648");
  EXPECT_EQ(refusal({1, 1, std::int64_t{1} << 31}),
            "spmv: nnz must not be above 2147483647, it is 2147483648");
  EXPECT_EQ(refusal({0, 4, 2}), "spmv: a matrix of 0x4 has no place for nnz = 2");
  EXPECT_EQ(refusal({4, 0, 2}), "spmv: a matrix of 4x0 has no place for nnz = 2");
  EXPECT_NO_THROW(ops::validate(Problem{1, 1, std::int64_t{1} << 31, true}));
  EXPECT_NO_THROW(ops::validate(Problem{0, 0, 0}));
}

TEST(SpmvProblem, CountsOperationsAndBytes) {
  Problem p{10, 20, 30};
  EXPECT_EQ(flops(p), 60);
  EXPECT_EQ(minimal_bytes(p), 8 * 30 + 4 * 11 + 4 * 20 + 4 * 10);
  p.wide_offsets = true;
  p.beta = 2.0f;
  EXPECT_EQ(minimal_bytes(p), 8 * 30 + 8 * 11 + 4 * 20 + 2 * 4 * 10);
}

// [ 1 . -2 ]   [  2 ]
// [ . .  . ] · [ 10 ]
// [ 3 5  . ]   [  4 ]
const CsrMatrix kSmall{3, 3, {0, 2, 2, 4}, {0, 2, 0, 1}, {1, -2, 3, 5}};
const std::vector<float> kX{2, 10, 4};

TEST(SpmvReference, HandValues) {
  const auto truth = reference(problem_of(kSmall, -0.5f, 2.0f), kSmall, kX, {{1, 7, -1}});
  ASSERT_EQ(truth.size(), 3u);
  EXPECT_EQ(truth[0].value, -0.5 * (2 - 8) + 2);
  EXPECT_EQ(truth[1].value, 14);
  EXPECT_EQ(truth[2].value, -0.5 * 56 - 2);
  // Two entries may be rounded five times, each relative to what there is to add.
  const double unit = 0x1p-24;
  EXPECT_NEAR(truth[0].bound, 5 * unit / (1 - 5 * unit) * (0.5 * (2 + 8) + 2), 1e-40);
  EXPECT_NEAR(truth[1].bound, 3 * unit / (1 - 3 * unit) * 14, 1e-40);
}

TEST(SpmvReference, ReadsNothingThatItMayNot) {
  const std::vector<float> nans(3, kNan);
  for (const auto& e : reference(problem_of(kSmall, 1.0f, 0.0f), kSmall, kX, nans)) {
    EXPECT_TRUE(std::isfinite(e.value));
  }
  CsrMatrix a = kSmall;
  a.values.assign(4, kNan);
  for (const auto& e : reference(problem_of(a, 0.0f, 3.0f), a, nans, {{1, 2, 3}})) {
    EXPECT_TRUE(std::isfinite(e.value));
  }
  // An entry counts whatever its value is.
  a.values.assign(4, 0.0f);
  EXPECT_TRUE(std::isnan(reference(problem_of(a, 1.0f, 0.0f), a, nans, {})[0].value));
}

TEST(SpmvCases, MatrixOfAShape) {
  const CsrMatrix a = matrix_of_shape({70, 100, 3});
  EXPECT_EQ(a.rows, 70);
  EXPECT_EQ(a.columns, 100);
  EXPECT_EQ(a.nnz(), 210);
  EXPECT_EQ(a.row_offsets[70], 210);
  const auto first_column = [&](std::size_t row) { return a.column_indices[3 * row]; };
  EXPECT_EQ(first_column(0), 0);
  EXPECT_EQ(first_column(31), 0);
  EXPECT_EQ(first_column(32), 32);
  EXPECT_EQ(first_column(64), 64);
  EXPECT_EQ(a.column_indices[3 * 69 + 2], 66);
  EXPECT_EQ(matrix_of_shape({5, 0, 0}).nnz(), 0);
  EXPECT_EQ(matrix_of_shape({0, 4, 4}).row_offsets.size(), 1u);
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{4, 4, 5}, {-1, 4, 1}, {4, std::int64_t{1} << 31, 1}}) {
    EXPECT_SAYS("a shape is ROWSxCOLUMNSxPER_ROW", sentence_of([&] { matrix_of_shape(shape); }));
  }
}

// For the scope of a test.
class MatricesFolder {
 public:
  explicit MatricesFolder(const std::string& path) {
    if (const char* before = std::getenv(kName)) before_ = before;
    ::setenv(kName, path.c_str(), 1);
  }
  ~MatricesFolder() { before_.empty() ? ::unsetenv(kName) : ::setenv(kName, before_.c_str(), 1); }

 private:
  static constexpr const char* kName = "WARPLADDER_MATRICES";
  std::string before_;
};

TEST(SpmvCases, MatricesOfTheUser) {
  const TempDir folder;
  const MatricesFolder named(folder.path());
  EXPECT_TRUE(matrices_of_user().paths.empty());
  const std::size_t own = spmv_cases().size(), of_bench = bench_matrices().size();
  write_matrix_market(folder.file("b.mtx"), kSmall);
  write_matrix_market(folder.file("a.mtx"), kSmall);
  testing::spill(folder.file("c.mtx"),
                 "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n");
  testing::spill(folder.file("notes.txt"), "no matrix");
  const std::vector<std::string> expected{folder.file("a.mtx"), folder.file("b.mtx")};
  EXPECT_EQ(matrices_of_user().paths, expected);
  EXPECT_EQ(matrices_of_user().left_out.size(), 1u);
  const std::vector<SpmvCase> cases = spmv_cases();
  ASSERT_EQ(cases.size(), own + 2);
  EXPECT_EQ(cases.back().name, "b.mtx");
  EXPECT_EQ(matrix_of(cases.back()), kSmall);
  EXPECT_EQ(bench_matrices().size(), of_bench + 2);
}

TEST(SpmvCases, AFolderThatCannotBeRead) {
  const TempDir folder;
  const MatricesFolder named(folder.file("absent"));
  EXPECT_EQ(sentence_of([] { matrices_of_user(); }),
            "WARPLADDER_MATRICES: '" + folder.file("absent") +
                "' cannot be read: No such file or directory");
}

TEST(SpmvDispatch, TellsHowColumnsAreSpread) {
  const auto spread_of = [](const char* spec) {
    const Problem p = problem_of(generate(spec), 1.0f, 0.0f, false);
    return std::pair(p.scattered, p.even);
  };
  EXPECT_EQ(spread_of("uniform:rows=300000,per_row=16"), std::pair(true, true));
  EXPECT_EQ(spread_of("rmat:scale=18,edge=16"), std::pair(true, false));  // some are frequent
  EXPECT_EQ(spread_of("banded:rows=1000,band=33"), std::pair(false, false));
}

TEST(SpmvPlan, ChoosesByRowsColumnsAndPreparation) {
  const Problem p{1000, 1000, 5000}, nearly_empty{100000, 1000, 5000};
  const auto planned = [](Problem problem, std::int64_t longest, bool prepared,
                          const runtime::Machine& machine = {}) -> std::string {
    problem.longest_row = longest;
    return plain::plan(problem, machine, prepared).id;
  };
  constexpr std::int64_t kUnknown = Problem::kUnknown;
  EXPECT_EQ(planned(p, kUnknown, false), "07_entries");
  EXPECT_EQ(planned(p, kUnknown, true), "08_prepared");
  EXPECT_EQ(planned(nearly_empty, kUnknown, true), "06_merge");
  EXPECT_EQ(choose(p, runtime::Target::cpu).id, "01_scalar");
  // Many entries, of columns that lie anywhere.
  Problem scattered{1000000, 1000000, 16000000};
  scattered.scattered = true;
  EXPECT_EQ(planned(scattered, kUnknown, true), "09_sorted");
  EXPECT_EQ(planned(scattered, kUnknown, false), "07_entries");
  scattered.even = true;
  EXPECT_EQ(planned(scattered, kUnknown, true), "09_sorted");
  EXPECT_EQ(planned(scattered, kUnknown, false), "10_held");
  EXPECT_EQ(planned(scattered, 8, false), "10_held");
  runtime::Machine a100;
  a100.capability = 80;
  EXPECT_EQ(planned(scattered, kUnknown, false, a100), "07_entries") << "no clusters";
  EXPECT_EQ(planned(scattered, kUnknown, true, a100), "09_sorted");
  runtime::Machine a10 = a100, t4 = a100;
  a10.shared_bytes_per_block = 99 << 10;
  t4.capability = 75;
  EXPECT_EQ(planned(scattered, kUnknown, true, a10), "08_prepared") << "tiles do not fit";
  EXPECT_EQ(planned(scattered, kUnknown, true, t4), "08_prepared") << "no mbarriers";
  scattered.columns = 500000;
  EXPECT_EQ(planned(scattered, kUnknown, false), "07_entries");
  scattered.columns = 1000000;
  scattered.nnz = 1000000;
  EXPECT_EQ(planned(scattered, kUnknown, false), "07_entries");
  EXPECT_EQ(planned(scattered, kUnknown, true), "08_prepared");
  // All rows short; not all.
  EXPECT_EQ(planned(p, 8, true), "08_prepared");
  EXPECT_EQ(planned(p, 8, false), "01_scalar");
  EXPECT_EQ(planned(p, 9, false), "07_entries");
}

TEST(SpmvOperator, RemarksOnTheRows) {
  const auto remark_on = [](const char* matrix) {
    return ops::find_operator("spmv")
        .case_of_shape({}, matrix)
        .prepare(runtime::Target::cpu)
        ->remark();
  };
  EXPECT_EQ(
      remark_on("arrow:rows=2000"),
      "2,000 rows, 2,000 columns, 5,998 nonzeros; to a row 2.999 on average, 2,000 at most; 0 "
      "rows are empty; coefficient of variation 14.89; 32 neighbouring nonzeros touch 4.3 sectors "
      "of "
      "x");
}

// Rows of all lengths, and offsets of both widths.
std::vector<SpmvCase> patterns() {
  std::vector<SpmvCase> cases;
  for (const char* matrix :
       {"rmat:scale=11,edge=16", "dense_rows:rows=4000,per_row=4,dense=3", "empty_rows:rows=9000",
        "single_row:columns=30000", "single_column:rows=3000",
        "uniform:rows=300,columns=900,per_row=7", "uniform:rows=1,columns=1,per_row=1"}) {
    cases.push_back(plain_spmv_case(matrix));
  }
  cases.push_back(plain_spmv_case("arrow:rows=5000"));
  cases.back().wide_offsets = true;
  return cases;
}

// Where the own rows of each tile of `own` entries begin. It is the first row that begins in it or
// behind it, and that row's first entry. Negative, as ~row, where the row before is cut there. Such
// a row goes on by more than `more` entries behind the tile in which it begins. Found by walking
// from entry to entry.
using Start = std::pair<std::int64_t, std::int64_t>;
std::vector<Start> starts_of_tiles(const CsrMatrix& a, std::int64_t own, std::int64_t more) {
  std::vector<Start> starts;
  std::int64_t row = 0;  // the first that begins at `at` or behind it
  const auto begin_of = [&](std::int64_t i) { return a.row_offsets[static_cast<std::size_t>(i)]; };
  for (std::int64_t at = 0; at < a.nnz(); ++at) {
    while (row < a.rows && begin_of(row) < at) ++row;
    if (at % own != 0) continue;
    bool is_cut = false;
    if (begin_of(row) > at) {
      std::int64_t end_of_its_tile = begin_of(row - 1) + 1;
      while (end_of_its_tile % own != 0) ++end_of_its_tile;
      is_cut = begin_of(row) > end_of_its_tile + more;
    }
    starts.emplace_back(is_cut ? ~row : row, begin_of(row));
  }
  starts.emplace_back(a.rows, a.nnz());
  return starts;
}

// As the plan holds them, pairs of numbers as wide as the offsets.
std::vector<Start> starts_in(const std::vector<std::int64_t>& plan, bool wide, std::size_t count) {
  std::vector<std::int32_t> narrow(2 * plan.size());
  std::memcpy(narrow.data(), plan.data(), plan.size() * sizeof(std::int64_t));
  std::vector<Start> starts;
  for (std::size_t i = 0; i < 2 * count; i += 2) {
    starts.push_back(wide ? Start{plan[i], plan[i + 1]} : Start{narrow[i], narrow[i + 1]});
  }
  return starts;
}

// What a rung prepares, and expects to find within the plan's bounds.
std::vector<std::int64_t> plan_of(const char* rung, const CsrMatrix& a, const Problem& p,
                                  runtime::Flavour flavour) {
  Operands operands(runtime::Target::cpu, p, a,
                    std::vector<float>(static_cast<std::size_t>(a.columns)),
                    std::vector<float>(static_cast<std::size_t>(a.rows)));
  operands.plan.fill_bytes(0xff);
  device::Stream stream(runtime::Target::cpu);
  const Call call = operands.call();
  ladder::find_rung("spmv", rung).preparation(flavour)(call, stream);
  EXPECT_TRUE(operands.plan.guards_intact());
  return operands.plan.download();
}

TEST(SpmvPlan, HoldsEachTilesFirstRow) {
  for (const SpmvCase& c : patterns()) {
    SCOPED_TRACE(c.name);
    const CsrMatrix a = matrix_of(c);
    const Problem p = problem_of(a, 1.0f, 0.0f, c.wide_offsets);
    for (const auto flavour : {runtime::Flavour::plain, runtime::Flavour::counted}) {
      const std::vector<std::int64_t> plan = plan_of("08_prepared", a, p, flavour);
      const std::vector<Start> expected = with_entry_tile(
          p, [&]<class OfTile>() { return starts_of_tiles(a, OfTile::kOwn, OfTile::kMore); });
      EXPECT_EQ(static_cast<std::int64_t>(expected.size()), entry_tiles(p) + 1);
      EXPECT_EQ(starts_in(plan, p.wide_offsets, expected.size()), expected);
    }
  }
}

// Of each tile: every entry that is its own once, at its place, in the order of the lines of x. The
// columns are as the matrix has them.
TEST(SpmvPlan, OrdersEachTilesEntriesByColumns) {
  std::vector<SpmvCase> cases = patterns();
  cases.push_back(plain_spmv_case("uniform:rows=20,columns=1000000,per_row=5"));
  bool some_lie_too_far_apart = false, some_are_cut = false;
  for (const SpmvCase& c : cases) {
    const CsrMatrix a = matrix_of(c);
    const Problem p = problem_of(a, 1.0f, 0.0f, c.wide_offsets);
    const LongTile shape = long_tile(p, device::machine(runtime::Target::cpu));
    const std::vector<Start> starts = starts_of_tiles(a, shape.own(), LongTile::kMore);
    const OrderLayout layout = order_layout(p, device::machine(runtime::Target::cpu));
    const std::int64_t tiles = layout.tiles, chunks = layout.chunks, kWarps = LongTile::kWarps,
                       rounds = LongTile::rounds_of(static_cast<int>(chunks));
    SCOPED_TRACE(c.name);
    for (const auto flavour : {runtime::Flavour::plain, runtime::Flavour::counted}) {
      const std::vector<std::int64_t> plan = plan_of("09_sorted", a, p, flavour);
      std::vector<std::int32_t> part(2 * (plan.size() - static_cast<std::size_t>(order_at(p))));
      std::memcpy(part.data(), &plan[static_cast<std::size_t>(order_at(p))],
                  part.size() * sizeof(std::int32_t));
      const auto at = [&](std::int64_t i) { return part[static_cast<std::size_t>(i)]; };
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        const std::int64_t first = tile * shape.own();
        const auto& [row, from] = starts[static_cast<std::size_t>(tile)];
        const auto& [next_row, to] = starts[static_cast<std::size_t>(tile) + 1];
        const std::int64_t begin = row < 0 ? 0 : from - first,
                           end = next_row < 0 ? shape.own() : to - first;
        some_are_cut |= row < 0;
        std::vector<int> seen(static_cast<std::size_t>(shape.all()), 0);
        std::int64_t line = 0;
        for (std::int64_t i = 0; i < chunks * 32; ++i) {
          const auto word = static_cast<std::uint32_t>(at(tile * shape.all() + i));
          const std::int64_t place = word & 0x7fff;
          ASSERT_EQ(place == 0x7fff, i >= end - begin) << c.name << ", tile " << tile;
          if (place == 0x7fff) continue;
          ASSERT_TRUE(place >= begin && place < end) << c.name << ", tile " << tile;
          ++seen[static_cast<std::size_t>(place)];
          const std::int64_t chunk = i / 32,
                             base = at(layout.bases + (tile * kWarps + chunk % kWarps) * rounds +
                                       chunk / kWarps);
          const std::int64_t column = a.column_indices[static_cast<std::size_t>(first + place)];
          some_lie_too_far_apart |= base == -1;
          if (base != -1) {
            ASSERT_EQ(base + (word >> 15), column) << c.name << ", tile " << tile;
          }
          ASSERT_GE(column / 32, line) << c.name << ", tile " << tile;
          line = column / 32;
        }
        for (std::int64_t place = begin; place < end; ++place) {
          ASSERT_EQ(seen[static_cast<std::size_t>(place)], 1) << c.name << ", tile " << tile;
        }
      }
      EXPECT_EQ(at(layout.strip_tiles), 0) << c.name;
      for (std::int64_t i = 0; i < layout.strips; ++i) {
        EXPECT_LE(at(layout.strip_tiles + i), at(layout.strip_tiles + i + 1)) << c.name;
      }
      EXPECT_EQ(at(layout.strip_tiles + layout.strips), tiles) << c.name;
    }
  }
  EXPECT_TRUE(some_lie_too_far_apart);
  EXPECT_TRUE(some_are_cut);
}

// Whatever the threads do: blocks that share a row meet in one order.
TEST(SpmvRungs, GiveTheSameBitsInEveryRun) {
  for (const SpmvCase& c : patterns()) {
    const CsrMatrix a = matrix_of(c);
    const Problem p = problem_of(a, 1.5f, 0.0f, c.wide_offsets);
    std::vector<float> x(static_cast<std::size_t>(a.columns));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i % 97 + 1);
    const std::vector<float> poison(static_cast<std::size_t>(a.rows), kNan);
    Operands operands(runtime::Target::cpu, p, a, x, poison);
    const Call call = operands.call();
    const auto bits_of = [&](const ladder::AnyRung& rung, runtime::Flavour flavour,
                             unsigned threads) {
      operands.y.upload(poison);
      device::Stream stream(runtime::Target::cpu);
      stream.executor_threads = threads;
      if (const auto prepare = rung.preparation(flavour)) prepare(call, stream);
      rung.launcher(flavour)(call, stream);
      EXPECT_TRUE(std::ranges::none_of(operands.flags.download(), std::identity()))
          << rung.id << " leaves flags set, " << c.name;
      std::vector<std::uint32_t> bits;
      for (const float value : operands.y.download()) {
        EXPECT_FALSE(std::isnan(value)) << rung.id << ", " << c.name;
        bits.push_back(std::bit_cast<std::uint32_t>(value));
      }
      return bits;
    };
    for (const ladder::AnyRung* rung : ladder::rungs_of("spmv")) {
      if (rung->is_dispatch()) continue;  // one of the others
      const auto once = bits_of(*rung, runtime::Flavour::plain, 1);
      EXPECT_EQ(once, bits_of(*rung, runtime::Flavour::plain, 4)) << rung->id << ", " << c.name;
      EXPECT_EQ(once, bits_of(*rung, runtime::Flavour::plain, 4)) << rung->id << ", " << c.name;
      EXPECT_EQ(once, bits_of(*rung, runtime::Flavour::counted, 3)) << rung->id << ", " << c.name;
    }
  }
}

// A plan holds for any values, and for any number of products.
TEST(SpmvRungs, UseAPlanAgain) {
  CsrMatrix a = generate("rmat:scale=10,edge=8");
  const Problem p = problem_of(a, 1.0f, 0.0f);
  const std::vector<float> x(static_cast<std::size_t>(a.columns), 1.0f);
  Operands operands(runtime::Target::cpu, p, a, x, x);
  const Call call = operands.call();
  device::Stream stream(runtime::Target::cpu);
  // Each has a part of the plan, which the other leaves in peace.
  const ladder::AnyRung* const rungs[] = {&ladder::find_rung("spmv", "08_prepared"),
                                          &ladder::find_rung("spmv", "09_sorted")};
  for (const ladder::AnyRung* rung : rungs)
    rung->preparation(runtime::Flavour::plain)(call, stream);
  for (int times = 0; times < 6; ++times) {
    for (float& value : a.values) value = -2.0f * value;
    operands.values.upload(a.values);
    rungs[times % 2]->launcher(runtime::Flavour::plain)(call, stream);
    const std::vector<float> y = operands.y.download();
    const auto truth = reference(p, a, x, {});
    for (std::size_t i = 0; i < y.size(); ++i) {
      ASSERT_LE(std::abs(static_cast<double>(y[i]) - truth[i].value), truth[i].bound) << i;
    }
  }
}

// What a rung with a fault would do, one fault each.
enum class Fault {
  none,
  one_value,
  left_out,
  entry_left_out,
  reads_y_with_beta_zero,
  nan_left_out,
  behind,
  to_the_input,
  to_the_offsets,
  flag_left_set,
};
Fault planted = Fault::none;

std::int64_t offset_at(const Call& call, std::int64_t i) {
  return call.problem.wide_offsets ? static_cast<const std::int64_t*>(call.row_offsets)[i]
                                   : static_cast<const std::int32_t*>(call.row_offsets)[i];
}

void launch_planted(const Call& call, runtime::StreamView&) {
  const Problem& p = call.problem;
  for (std::int64_t i = 0; i < p.rows; ++i) {
    if (planted == Fault::left_out && i == p.rows - 1) continue;
    const std::int64_t first = offset_at(call, i), end = offset_at(call, i + 1);
    double sum = 0;
    for (std::int64_t e = first; e < end && p.alpha != 0.0f; ++e) {
      if (planted == Fault::entry_left_out && e == end - 1) continue;
      const auto x = static_cast<double>(call.x[call.column_indices[e]]);
      if (planted == Fault::nan_left_out && std::isnan(call.values[e])) continue;
      sum += static_cast<double>(call.values[e]) * x;
    }
    const bool reads = p.beta != 0.0f || planted == Fault::reads_y_with_beta_zero;
    const double old = reads ? static_cast<double>(p.beta) * static_cast<double>(call.y[i]) : 0.0;
    call.y[i] =
        static_cast<float>((p.alpha == 0.0f ? 0.0 : static_cast<double>(p.alpha) * sum) + old);
  }
  if (planted == Fault::one_value) call.y[p.rows / 2] += 1.0f;
  if (planted == Fault::behind) call.y[p.rows] = 1;
  if (planted == Fault::to_the_input) const_cast<float*>(call.x)[0] = 7;
  if (planted == Fault::to_the_offsets) {
    ++*static_cast<unsigned char*>(const_cast<void*>(call.row_offsets));
  }
  if (planted == Fault::flag_left_set)
    call.flags[flag_words(p, device::machine(runtime::Target::cpu)) - 1] = 1;
}

lab::VerifyRow verdict() {
  ladder::AnyRung rung;
  rung.op = "spmv";
  rung.id = "planted";
  rung.launch[static_cast<int>(runtime::Flavour::plain)] = launch_planted;
  lab::VerifyRequest request;
  request.rungs = {{&ops::find_operator("spmv"), &rung}};
  return lab::verify(request)[0];
}

TEST(SpmvJudge, CatchesPlantedFaults) {
  planted = Fault::none;
  for (const lab::CaseResult& result : verdict().cases)
    EXPECT_EQ(result.failure, "") << result.name;
  const std::map<Fault, const char*> words{
      {Fault::one_value, "but should be"},
      {Fault::left_out, "was never written"},
      {Fault::entry_left_out, "y(0) is "},
      {Fault::reads_y_with_beta_zero, "never written"},
      {Fault::nan_left_out, "but should be"},
      {Fault::behind, "outside y"},
      {Fault::to_the_input, "the input x changed"},
      {Fault::to_the_offsets, "the row offsets have changed"},
      {Fault::flag_left_set, "the flags are left set"},
  };
  for (const auto& [fault, sentence] : words) {
    planted = fault;
    std::size_t caught = 0;
    for (const lab::CaseResult& result : verdict().cases) {
      caught += result.failure.find(sentence) != std::string::npos;
    }
    EXPECT_GT(caught, 0) << sentence;
  }
  planted = Fault::none;
}

}  // namespace
}  // namespace warpladder::spmv
