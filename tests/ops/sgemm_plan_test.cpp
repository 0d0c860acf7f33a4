// sgemm's plans on simulated machines, in every arithmetic. They are right with no more workspace
// than they ask for, whatever it holds, and with the same bits in every run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstring>
#include <initializer_list>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random_fill.hpp"
#include "device/device.hpp"
#include "ops/sgemm/lab/dispatch.hpp"

namespace warpladder::sgemm {
namespace {

struct Shape {
  std::int64_t m, n, k;
};
// Each rung of the plan has shapes that it is for.
constexpr Shape kShapes[] = {{2, 900, 700},   {900, 3, 700},  {14, 700, 640}, {30, 300, 600},
                             {300, 40, 500},  {24, 20, 6000}, {65, 70, 3000}, {200, 140, 400},
                             {300, 280, 3},   {150, 260, 30}, {1, 5, 4000},   {257, 255, 100},
                             {140, 130, 1100}};

std::vector<float> random_floats(std::int64_t count, std::uint64_t seed) {
  std::vector<float> v(static_cast<std::size_t>(count));
  fill_uniform(v, seed, -1.0f, 1.0f);
  return v;
}

struct Element {
  double sum = 0, magnitude = 0;
};

class PlannedProduct {
 public:
  explicit PlannedProduct(const Problem& p)
      : p_(p), host_a_(random_floats(p.m * p.k, 1)), host_b_(random_floats(p.k * p.n, 2)) {}

  // The product as a column-major call states it: A and B change places.
  Problem in_columns() const { return compact(p_.n, p_.m, p_.k, Layout::column_major); }

  std::vector<float> run(const Plan& plan, Layout layout = Layout::row_major) const {
    return run(plan, layout == Layout::row_major ? p_ : in_columns(), {});
  }
  // Its rows as so many products with one B.
  Problem one_of(std::int64_t count) const {
    Problem one = p_;
    one.m /= count;
    return one;
  }
  Batch batch_of(std::int64_t count) const {
    const std::int64_t rows = p_.m / count;
    return {.count = count, .stride_a = p_.trans_a ? rows : rows * p_.k, .stride_c = rows * p_.n};
  }
  std::vector<float> run(const Plan& plan, const Problem& as, const Batch& batch) const {
    constexpr auto cpu = runtime::Target::cpu;
    const bool by_rows = as.layout == Layout::row_major;
    const device::Buffer<float> a(cpu, by_rows ? host_a_ : host_b_),
        b(cpu, by_rows ? host_b_ : host_a_);
    device::Buffer<float> c(cpu, std::vector<float>(static_cast<std::size_t>(p_.m * p_.n), NAN));
    device::Memory workspace(cpu, plan.workspace_bytes);
    workspace.fill(0xff);
    device::Stream stream(cpu);
    Call call{as, a.data(), b.data(), c.data(), workspace.data()};
    call.batch = batch;
    plan.rung->launch(call, stream);
    EXPECT_TRUE(workspace.guards_intact() && c.guards_intact());
    return c.download();
  }
  // The exact C, and what its error is measured by.
  std::vector<Element> truth() const {
    return added_up<Element>([](Element& element, float a, float b) {
      const double term = static_cast<double>(a) * b;
      element.sum += term;
      element.magnitude += std::abs(term);
    });
  }
  // What one sum of all k gives for each element.
  std::vector<float> in_one_sum() const {
    return added_up<float>([](float& sum, float a, float b) { sum = std::fma(a, b, sum); });
  }
  void judge(const std::vector<float>& c, const std::vector<Element>& truth) const {
    for (std::size_t i = 0; i < c.size(); ++i) {
      const auto [sum, magnitude] = truth[i];
      ASSERT_TRUE(std::abs(c[i] - sum) <= 0x1p-24 * static_cast<double>(p_.k + 2) * magnitude)
          << "element " << i << " of C is " << c[i] << ", not " << sum;
    }
  }

 private:
  // C, of which `add` adds a term, a·b, to an element, in the order of k.
  template <class T, class Add>
  std::vector<T> added_up(const Add& add) const {
    std::vector<T> c(static_cast<std::size_t>(p_.m * p_.n));
    for (std::int64_t i = 0; i < p_.m; ++i) {
      for (std::int64_t x = 0; x < p_.k; ++x) {
        const float a = host_a_[static_cast<std::size_t>(p_.trans_a ? x * p_.m + i : i * p_.k + x)];
        for (std::int64_t j = 0; j < p_.n; ++j) {
          add(c[static_cast<std::size_t>(i * p_.n + j)], a,
              host_b_[static_cast<std::size_t>(p_.trans_b ? j * p_.k + x : x * p_.n + j)]);
        }
      }
    }
    return c;
  }

  Problem p_;
  std::vector<float> host_a_, host_b_;
};

runtime::Machine made_up(int capability, int multiprocessors, double f64_tensor) {
  runtime::Machine m;
  m.capability = capability;
  m.multiprocessors = multiprocessors;
  m.f64_tensor_flops_per_s = f64_tensor;
  m.shared_bytes_per_block = (capability == 90 ? 227 : capability == 75 ? 64 : 99) << 10;
  return m;
}

// A rung among those that are compared, or none.
Candidate candidate_of(std::string_view id, const Problem& p, Arithmetic arithmetic,
                       const runtime::Machine& machine, const Batch& batch = {}) {
  Candidate all[kMostCandidates];
  const int count = plain::candidates(p, machine, arithmetic, batch, all);
  const Candidate* const found =
      std::find_if(all, all + count, [&](const Candidate& each) { return each.plan.id == id; });
  return found == all + count ? Candidate{} : *found;
}
Plan plan_of(std::string_view id, const Problem& p, Arithmetic arithmetic = Arithmetic::cuda_cores,
             const runtime::Machine& machine = {}) {
  return candidate_of(id, p, arithmetic, machine).plan;
}

TEST(SgemmPlans, NeedNoMoreWorkspaceThanTheyAskFor) {
  for (const Shape& shape : kShapes) {
    const Problem p = compact(shape.m, shape.n, shape.k);
    const PlannedProduct product(p);
    const std::vector<Element> truth = product.truth();
    for (const runtime::Machine& machine :
         {runtime::Machine(), made_up(75, 40, 0), made_up(80, 108, 19.5e12), made_up(89, 24, 0),
          made_up(90, 16, 8e12), made_up(120, 170, 0)}) {
      const device::StandIn stand_in(machine);
      std::set<std::pair<const void*, std::size_t>> tried;
      for (const auto arithmetic :
           {Arithmetic::accurate, Arithmetic::cuda_cores, Arithmetic::double_rounded}) {
        const Plan plan = plain::plan(p, machine, arithmetic);
        if (!tried.emplace(plan.rung, plan.workspace_bytes).second) continue;  // the same launch
        SCOPED_TRACE(testing::Message() << plan.id << " for " << p.m << "x" << p.n << "x" << p.k
                                        << " on " << machine.capability);
        const std::vector<float> once = product.run(plan), again = product.run(plan);
        product.judge(once, truth);
        EXPECT_EQ(std::memcmp(once.data(), again.data(), once.size() * sizeof(float)), 0);
      }
    }
  }
}

// On Hopper others are as fast there, and as accurate as cublasSgemm.
TEST(SgemmPlans, LeavesOutSumsThatLoseMore) {
  const auto has = [](const Problem& p, const char* id,
                      Arithmetic arithmetic = Arithmetic::accurate) {
    return plan_of(id, p, arithmetic).rung != nullptr;
  };
  const Problem lines = compact(8, 4096, 4096, Layout::row_major, false, true);
  const Problem long_sums = compact(100, 300, 9910), short_sums = compact(100, 300, 500);
  const Problem small_c = compact(300, 300, 20), large_c = compact(3000, 3000, 20);
  for (const char* id : {"row_07_register_parity", "row_11_few_rows", "row_13_split_k",
                         "row_19_few_lines", "row_26_small_tiles"}) {
    EXPECT_FALSE(has(lines, id)) << id;
    EXPECT_TRUE(has(lines, id, Arithmetic::cuda_cores)) << id;
  }
  for (const char* id : {"row_20_parity_split_k", "row_24_batched_parity"}) {
    EXPECT_FALSE(has(long_sums, id)) << id;
    EXPECT_TRUE(has(short_sums, id)) << id;
    EXPECT_TRUE(has(long_sums, id, Arithmetic::cuda_cores)) << id;
  }
  EXPECT_FALSE(has(small_c, "row_22_columns_stay"));
  EXPECT_TRUE(has(large_c, "row_22_columns_stay"));
  EXPECT_TRUE(has(small_c, "row_22_columns_stay", Arithmetic::cuda_cores));
}

// A sum of 15 parts of 8 loses 0.4 times what a sum of 120 terms does. Four groups of warps alone
// would lose half.
TEST(SgemmPlans, SumPartsOfKApartInSmallTiles) {
  const Problem p = compact(200, 600, 120);
  const PlannedProduct product(p);
  const std::vector<Element> truth = product.truth();
  const auto error_of = [&](const std::vector<float>& c) {
    double squares = 0;
    for (std::size_t i = 0; i < c.size(); ++i) squares += std::pow(c[i] - truth[i].sum, 2);
    return std::sqrt(squares);
  };
  const Plan small_tiles = plan_of("row_26_small_tiles", p);
  ASSERT_NE(small_tiles.rung, nullptr);
  EXPECT_LT(error_of(product.run(small_tiles)), 0.45 * error_of(product.in_one_sum()));
}

// What is launched without a plan gets workspace_bytes(). A rung that states no need of its own
// must not plan for more, above all where k is short and C large.
TEST(SgemmPlans, NeedNoMoreThanLaunchesWithoutAPlanGet) {
  for (const Shape& shape : {Shape{4096, 4096, 16}, Shape{4096, 4096, 64}, Shape{2047, 2049, 33},
                             Shape{5000, 1100, 130}, Shape{1800, 2200, 400}, Shape{777, 777, 777},
                             Shape{64, 9000, 96}, Shape{3, 50000, 20}, Shape{300, 300, 100000}}) {
    const Problem p = compact(shape.m, shape.n, shape.k);
    for (const runtime::Machine& machine : {runtime::Machine(), made_up(75, 40, 0)}) {
      Candidate all[kMostCandidates];
      const int count = plain::candidates(p, machine, Arithmetic::cuda_cores, {}, all);
      for (int i = 0; i < count; ++i) {
        if (all[i].plan.rung->workspace_bytes) continue;
        EXPECT_LE(all[i].plan.workspace_bytes, workspace_bytes(p))
            << all[i].plan.id << " for " << p.m << "x" << p.n << "x" << p.k;
      }
    }
  }
}

// Where the last wave of tiles would leave most multiprocessors idle, row_20 slices the last rows
// or columns of C alone.
TEST(SgemmPlans, OfAPartInSlicesAreRight) {
  for (const Shape& shape : {Shape{431, 675, 700}, Shape{675, 431, 700}}) {
    const Problem p = compact(shape.m, shape.n, shape.k);
    const runtime::Machine machine = made_up(80, 20, 0);
    const device::StandIn stand_in(machine);
    const Plan plan = plan_of("row_20_parity_split_k", p, Arithmetic::cuda_cores, machine);
    ASSERT_NE(plan.rung, nullptr);
    const auto whole_slice = static_cast<std::size_t>(p.m * p.n) * sizeof(float);
    EXPECT_GT(plan.workspace_bytes, 0u);
    EXPECT_LT(plan.workspace_bytes, 2 * whole_slice);
    const PlannedProduct product(p);
    product.judge(product.run(plan), product.truth());
  }
}

// In every tile that the model can choose. Operands lie along k or across it, in lines that begin
// at multiples of 16 bytes or anywhere.
TEST(SgemmPlans, AreRightInEveryTile) {
  const std::pair<const char*, std::size_t> kTiles[] = {
      {"row_24_batched_parity", 4}, {"row_26_small_tiles", 4}, {"row_27_grouped_warps", 6}};
  for (const auto& [id, tiles] : kTiles) {
    std::set<std::tuple<std::int64_t, std::int64_t, bool, bool, bool, bool>> tried;
    for (const int multiprocessors : {1, 2, 4, 16, 132}) {
      const runtime::Machine machine = made_up(80, multiprocessors, 0);
      const device::StandIn stand_in(machine);
      for (const Shape& shape :
           {Shape{40, 72, 52},    Shape{70, 130, 45},   Shape{130, 70, 45},  Shape{132, 64, 60},
            Shape{64, 132, 60},   Shape{150, 150, 37},  Shape{20, 40, 300},  Shape{40, 20, 300},
            Shape{256, 260, 36},  Shape{61, 63, 129},   Shape{64, 128, 400}, Shape{62, 126, 401},
            Shape{128, 64, 400},  Shape{126, 62, 401},  Shape{64, 64, 400},  Shape{62, 61, 401},
            Shape{16, 32, 300},   Shape{15, 31, 301},   Shape{32, 16, 300},  Shape{31, 15, 301},
            Shape{128, 128, 200}, Shape{127, 126, 201}, Shape{256, 256, 60}, Shape{64, 66, 40},
            Shape{66, 64, 40},    Shape{16, 30, 300},   Shape{30, 16, 300},  Shape{128, 66, 400},
            Shape{66, 128, 400},  Shape{256, 254, 60},  Shape{254, 256, 60}}) {
        for (const bool trans_a : {false, true}) {
          for (const bool trans_b : {false, true}) {
            const Problem p =
                compact(shape.m, shape.n, shape.k, Layout::row_major, trans_a, trans_b);
            const Candidate found = candidate_of(id, p, Arithmetic::cuda_cores, machine);
            if (!found.plan.rung) continue;
            const bool of_a = p.lda % 4 == 0, of_b = p.ldb % 4 == 0;
            if (!tried.emplace(found.cut.rows, found.cut.columns, trans_a, trans_b, of_a, of_b)
                     .second)
              continue;
            SCOPED_TRACE(testing::Message()
                         << id << " in tiles of " << found.cut.rows << "x" << found.cut.columns
                         << " for " << shape.m << "x" << shape.n << "x" << shape.k);
            const PlannedProduct product(p);
            product.judge(product.run(found.plan), product.truth());
          }
        }
      }
    }
    // Of 14 a tile, in which lines of A, of B, of both or of none begin at multiples of 16 bytes.
    EXPECT_GE(tried.size(), 10 * tiles) << id << " was not run in most layouts";
  }
}

// A tile and a layout in which a rung in even shares was run. `parted`: a tile's CTAs shared it.
// `joined`: a second launch added up their slices. `room`: the workspace may hold the smaller
// operand.
struct Share {
  std::int64_t rows, columns;
  bool parted, joined, room, trans_a, trans_b, whole;

  auto operator<=>(const Share&) const = default;
};
// Runs a rung on products of few rows, or columns, in all layouts, once for each of its shares. It
// does so on one product, or on a batch of `count`. As few multiprocessors as here part tiles of C
// among CTAs, or leave CTAs several of them. They take `slower` times as long, which makes launches
// cheap beside products; slow memory makes slices dear.
std::set<Share> shares_run(std::string_view id, double slower, std::initializer_list<Shape> shapes,
                           std::int64_t count = 1) {
  std::set<Share> tried;
  for (const auto& [multiprocessors, slower_memory] :
       {std::pair{1, 1.0}, {2, 1.0}, {3, 1.0}, {132, 1.0}, {3, 20 * slower}, {7, 20 * slower}}) {
    runtime::Machine machine = made_up(80, multiprocessors, 0);
    machine.fp32_flops_per_s /= slower;
    machine.memory_bytes_per_s /= slower_memory;
    const device::StandIn stand_in(machine);
    for (const auto& [few, many, k] : shapes) {
      for (const int layout : {0, 1, 2, 3, 4, 5, 6, 7}) {
        const bool rows_are_few = layout % 2 == 1, trans_a = layout & 2, trans_b = layout & 4;
        const PlannedProduct product(compact(count * (rows_are_few ? few : many),
                                             rows_are_few ? many : few, k, Layout::row_major,
                                             trans_a, trans_b));
        const Problem p = product.one_of(count);
        const Batch batch = product.batch_of(count);
        const auto [plan, _, cut] = candidate_of(id, p, Arithmetic::cuda_cores, machine, batch);
        if (!plan.rung) {
          ADD_FAILURE() << id << " is no candidate for " << p.m << "x" << p.n << "x" << k;
          continue;
        }
        const bool whole = (p.lda | p.ldb) % 4 == 0;
        const bool room = plan.workspace_bytes >= sizeof(float) * static_cast<std::size_t>(few * k);
        const bool joined = cut.slices > 1 && !cut.partly;
        if (!tried
                 .insert({cut.rows, cut.columns, cut.partly, joined, room, trans_a, trans_b, whole})
                 .second) {
          continue;
        }
        SCOPED_TRACE(testing::Message() << id << " in tiles of " << cut.rows << "x" << cut.columns
                                        << (cut.partly ? ", parted," : "") << " for " << p.m << "x"
                                        << p.n << "x" << k);
        product.judge(product.run(plan, p, batch), product.truth());
      }
    }
  }
  return tried;
}
std::size_t parted(const std::set<Share>& shares) {
  return static_cast<std::size_t>(std::ranges::count_if(shares, &Share::parted));
}

TEST(SgemmPlans, AreRightInEveryShare) {
  constexpr const char* kId = "row_28_even_shares";
  const std::set<Share> lines = shares_run(kId, 1,
                                           {{3, 33, 40},
                                            {2, 100, 1000},
                                            {4, 257, 601},
                                            {8, 70, 1300},
                                            {5, 1030, 99},
                                            {7, 300, 300},
                                            {1, 2100, 61},
                                            {6, 65, 2050}});
  EXPECT_GE(parted(lines), 20u);
  EXPECT_GE(lines.size() - parted(lines), 40u);
  // What is left of k is counted in 31 bits.
  EXPECT_FALSE(candidate_of(kId, compact(2, 3, std::int64_t{1} << 31), Arithmetic::cuda_cores,
                            made_up(80, 132, 0))
                   .plan.rung);
  const std::set<Share> tiles = shares_run("row_33_low_tiles", 50,
                                           {{31, 260, 300},
                                            {28, 1500, 61},
                                            {33, 260, 700},
                                            {48, 700, 61},
                                            {61, 130, 300},
                                            {64, 128, 700},
                                            {65, 500, 300},
                                            {96, 500, 100},
                                            {29, 131, 2500},
                                            {60, 60, 2500},
                                            {62, 391, 250},
                                            {96, 392, 200},
                                            {31, 391, 300}});
  // Five tiles, two sides of C with few lines, four layouts; parted, joined and whole.
  const auto joined = static_cast<std::size_t>(std::ranges::count_if(tiles, &Share::joined));
  EXPECT_GE(parted(tiles), 35u);
  EXPECT_GE(joined, 50u);
  EXPECT_GE(tiles.size() - parted(tiles) - joined, 50u);
}

TEST(SgemmPlans, AreRightInEveryShareOfABatch) {
  constexpr const char* kId = "row_34_even_batches";
  const std::set<Share> tiles = shares_run(kId, 50,
                                           {{31, 60, 300},
                                            {128, 128, 500},
                                            {32, 64, 41},
                                            {29, 131, 200},
                                            {64, 64, 100},
                                            {61, 130, 90},
                                            {96, 128, 60},
                                            {95, 257, 33},
                                            {127, 130, 50},
                                            {128, 256, 40},
                                            {60, 130, 400},
                                            {30, 64, 900}},
                                           3);
  // Six tiles, two sides of C with few lines, four layouts; parted and whole.
  EXPECT_GE(parted(tiles), 30u);
  EXPECT_GE(tiles.size() - parted(tiles), 30u);
  std::set<std::pair<std::int64_t, std::int64_t>> sizes;
  for (const Share& share : tiles) sizes.emplace(share.rows, share.columns);
  EXPECT_EQ(sizes.size(), 10u);  // two tiles are square
  const Problem p = compact(32, 64, 64);
  EXPECT_FALSE(candidate_of(kId, p, Arithmetic::cuda_cores, {}, {.count = 1 << 29}).plan.rung);
}

// Distances of 32 bits do not reach from line to line.
TEST(SgemmPlans, TakeLinesThatLieFarApart) {
  constexpr std::int64_t kApart = 9'000'000, kDepth = 5;
  // Along k: of A or of B, of the larger operand or of the smaller one.
  for (const auto& [a_is_far, lines, others] :
       {std::tuple{true, 3, 2}, {false, 3, 2}, {true, 2, 3}, {false, 2, 3}}) {
    Problem p = a_is_far ? compact(lines, others, kDepth)
                         : compact(others, lines, kDepth, Layout::row_major, false, true);
    (a_is_far ? p.lda : p.ldb) = kApart;
    const std::vector<float> near = random_floats(static_cast<std::size_t>(others * kDepth), 1),
                             line = random_floats(static_cast<std::size_t>(lines * kDepth), 2);
    std::vector<float> far(static_cast<std::size_t>((lines - 1) * kApart + kDepth));
    for (std::size_t i = 0; i < line.size(); ++i) far[i / kDepth * kApart + i % kDepth] = line[i];
    constexpr auto cpu = runtime::Target::cpu;
    const device::Buffer<float> a(cpu, a_is_far ? far : near), b(cpu, a_is_far ? near : far);
    for (const char* id : {"row_30_even_tiles", "row_33_low_tiles", "row_34_even_batches"}) {
      SCOPED_TRACE(testing::Message()
                   << id << ", " << lines << " far lines of " << (a_is_far ? "A" : "B"));
      device::Buffer<float> c(cpu, std::vector<float>(6, NAN));
      device::Memory workspace(cpu, 1 << 20);
      device::Stream stream(cpu);
      ladder::find_rung("sgemm", id)
          .launcher(runtime::Flavour::counted)(
              Call{p, a.data(), b.data(), c.data(), workspace.data()}, stream);
      const std::vector<float> got = c.download();
      for (std::size_t i = 0; i < got.size(); ++i) {
        const std::size_t row = i / static_cast<std::size_t>(p.n),
                          column = i % static_cast<std::size_t>(p.n),
                          of_far = a_is_far ? row : column, of_near = a_is_far ? column : row;
        double sum = 0;
        for (std::size_t x = 0; x < kDepth; ++x) {
          // The near operand is A's others×5, or B's 5×others.
          const std::size_t at =
              a_is_far ? x * static_cast<std::size_t>(others) + of_near : of_near * kDepth + x;
          sum += double{line[of_far * kDepth + x]} * near[at];
        }
        EXPECT_NEAR(got[i], sum, 1e-6) << "element " << i;
      }
    }
  }
}

// One product, stated in either layout, is planned alike and has the same bits.
TEST(SgemmPlans, DoNotDependOnTheLayout) {
  for (const Shape& shape : kShapes) {
    const Problem p = compact(shape.m, shape.n, shape.k);
    const PlannedProduct product(p);
    for (const auto arithmetic :
         {Arithmetic::accurate, Arithmetic::cuda_cores, Arithmetic::double_rounded}) {
      const Plan plan = plain::plan(p, {}, arithmetic),
                 in_columns = plain::plan(product.in_columns(), {}, arithmetic);
      SCOPED_TRACE(testing::Message() << plan.id << " for " << p.m << "x" << p.n << "x" << p.k);
      ASSERT_EQ(plan.rung, in_columns.rung) << in_columns.id;
      EXPECT_EQ(plan.workspace_bytes, in_columns.workspace_bytes);
      EXPECT_EQ(product.run(plan), product.run(in_columns, Layout::column_major));
    }
  }
}

// What the model chooses with the constants of tuning/: a constant that changes by mistake changes
// one of these.
TEST(SgemmPlans, ChooseByTheConstantsOfEachArchitecture) {
  struct Choice {
    Shape shape;
    const char *on_75, *on_80, *on_90;
  };
  constexpr Choice kChoices[] = {
      {{1, 4096, 4096}, "row_27_grouped_warps", "row_28_even_shares", "row_11_few_rows"},
      {{17, 4097, 4099}, "row_27_grouped_warps", "row_11_few_rows", "tc_21_mapped_lines"},
      {{32, 4096, 11008}, "row_27_grouped_warps", "row_11_few_rows", "tc_21_mapped_lines"},
      {{100, 10000, 1000}, "row_20_parity_split_k", "row_33_low_tiles", "tc_19_cluster_slices"},
      {{128, 1024, 16384}, "row_20_parity_split_k", "row_33_low_tiles", "tc_15_split_on_the_way"},
      {{12544, 64, 147}, "row_27_grouped_warps", "row_11_few_rows", "tc_21_mapped_lines"},
      {{32, 32, 1000000}, "row_27_grouped_warps", "row_13_split_k", "row_13_split_k"},
      {{4096, 4096, 16}, "row_07_register_parity", "row_22_columns_stay", "row_22_columns_stay"},
      {{2047, 2049, 33}, "row_24_batched_parity", "row_33_low_tiles", "row_24_batched_parity"},
      {{4096, 4096, 64}, "row_07_register_parity", "row_13_split_k", "tc_20_held_terms"},
      {{127, 129, 131}, "row_27_grouped_warps", "row_29_fitted_tiles", "row_29_fitted_tiles"},
      {{512, 512, 512}, "row_27_grouped_warps", "row_13_split_k", "tc_19_cluster_slices"},
      {{777, 777, 777}, "row_27_grouped_warps", "tc_13_mma_sync", "tc_10_full_range"},
      {{2048, 2048, 2048}, "row_07_register_parity", "tc_13_mma_sync", "tc_10_full_range"}};
  for (const auto& [shape, on_75, on_80, on_90] : kChoices) {
    const Problem p = compact(shape.m, shape.n, shape.k);
    const std::pair<int, const char*> wanted[] = {{75, on_75}, {80, on_80}, {90, on_90}};
    for (const auto& [capability, id] : wanted) {
      runtime::Machine machine;
      machine.capability = capability;
      EXPECT_STREQ(plain::plan(p, machine).id, id)
          << shape.m << "x" << shape.n << "x" << shape.k << " on " << capability;
    }
  }
}

}  // namespace
}  // namespace warpladder::sgemm
