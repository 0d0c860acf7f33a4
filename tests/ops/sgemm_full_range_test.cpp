// The rungs on tensor cores that take every problem, on values that FP16 pairs, or even TF32 pairs,
// do not hold.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "device/device.hpp"
#include "ladder/ladder.hpp"
#include "ops/lab/checked.hpp"
#include "ops/lab/judge.hpp"
#include "ops/sgemm/lab/reference.hpp"

namespace warpladder::sgemm {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity(),
                kNan = std::numeric_limits<float>::quiet_NaN();

class FullRange : public testing::TestWithParam<const char*> {
 protected:
  const ladder::AnyRung& rung() const { return ladder::find_rung("sgemm", GetParam()); }

  // What beta multiplies instead of C has lines so far apart; -1: it multiplies C.
  std::int64_t ld_source_ = -1;

  // A source for C's problem, and the C that it stands for.
  std::vector<float> source_for(const Problem& p, std::vector<float>& c) const {
    std::vector<float> source(static_cast<std::size_t>((p.m - 1) * ld_source_ + p.n));
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = c[i % c.size()];
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        c[static_cast<std::size_t>(i * p.ldc + j)] =
            source[static_cast<std::size_t>(i * ld_source_ + j)];
      }
    }
    return source;
  }

  // The judge's verdict on the rung's C; both operands are drawn from 2^-spread to 2^spread, then
  // changed by `change`.
  ops::Verdict verdict(Problem p, double spread,
                       const std::function<void(HostOperands&)>& change = {},
                       runtime::Target target = runtime::Target::cpu) const {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> exponent(-spread, spread);
    const auto draw = [&](std::int64_t count) {
      std::vector<float> v(static_cast<std::size_t>(count));
      for (float& x : v) {
        const double magnitude = std::exp2(exponent(random));
        x = static_cast<float>(random() & 1 ? magnitude : -magnitude);
      }
      return v;
    };
    const Problem::Footprint f = ops::footprint(p);
    HostOperands host{draw(f.a_elements), draw(f.b_elements), draw(f.c_elements)};
    if (change) change(host);
    const bool has_source = ld_source_ >= 0;
    const std::vector<float> added =
        has_source ? source_for(p, host.c) : std::vector<float>(1, kNan);
    const device::Buffer<float> a(target, host.a), b(target, host.b), source(target, added),
        c(target, has_source ? std::vector<float>(host.c.size(), kNan) : host.c);
    const runtime::Flavour flavour =
        target == runtime::Target::cpu ? runtime::Flavour::plain : runtime::Flavour::gpu;
    const ladder::Launcher prepare = rung().preparation(flavour);
    device::Memory workspace(target, prepare ? prepared_workspace_bytes(p) : workspace_bytes(p)),
        prepared(target, prepared_bytes(p));
    workspace.fill(0xff);
    prepared.fill(0xff);
    Call call{p, a.data(), b.data(), c.data(), workspace.data(), Values::any};
    call.prepared_b = prepared.data();
    if (has_source) call.source = source.data(), call.ld_source = ld_source_;
    EXPECT_EQ(ladder::why_not(rung(), call), "");
    device::Stream stream(target);
    if (prepare) prepare(call, stream);
    rung().launcher(flavour)(call, stream);
    stream.synchronize();

    const std::vector<ops::Expected> truth = reference(p, host);
    const std::vector<float> got = c.download();
    ops::ElementJudge judge([&](std::size_t at) {
      return "C(" + std::to_string(at / p.n) + "," + std::to_string(at % p.n) + ")";
    });
    const double widened = 1.0 + rung().arithmetic.extra_roundings / roundings(p);
    for (std::size_t at = 0; at < truth.size(); ++at) {
      ops::Expected expected = truth[at];
      expected.bound *= widened;
      judge.look_at(at, got[at], expected);
    }
    EXPECT_TRUE(c.guards_intact() && workspace.guards_intact() && prepared.guards_intact());
    return judge.verdict();
  }
};

TEST_P(FullRange, HoldsElementsFarApart) {
  for (const double spread : {1.0, 8.0, 20.0, 30.0}) {
    for (const bool transposed : {false, true}) {
      const Problem p = compact(150, 70, 200, Layout::row_major, transposed, transposed);
      EXPECT_EQ(verdict(p, spread).failure, "") << "2^" << spread;
    }
  }
}

// Operands of any magnitude: where the product lies within FP32's range it comes out, and where it
// does not it is infinite or nothing.
TEST_P(FullRange, HoldsLinesOfAnyMagnitude) {
  const Problem p = compact(40, 50, 300);
  for (const auto& [of_a, of_b] : {std::pair{125, -61},
                                   {-61, 125},
                                   {120, -120},
                                   {-120, 120},
                                   {126, -126},
                                   {-126, 126},
                                   {126, -140},
                                   {-140, 126},
                                   {49, 49},
                                   {60, 50},
                                   {90, -59},
                                   {-59, 90},
                                   {-61, -61},
                                   {-80, 30},
                                   {-100, -100},
                                   {120, 20}}) {
    const auto scale = [&, of_a = of_a, of_b = of_b](HostOperands& x) {
      for (float& a : x.a) a = std::ldexp(a, of_a);
      for (float& b : x.b) b = std::ldexp(b, of_b);
    };
    EXPECT_EQ(verdict(p, 1, scale).failure, "") << "2^" << of_a << " and 2^" << of_b;
  }
}

// Each row of A has its largest where the column of B has its least: no half holds both.
TEST_P(FullRange, HoldsTermsThatOnlyTogetherMatter) {
  const Problem p = compact(64, 64, 64);
  const auto slope = [](HostOperands& x) {
    for (int i = 0; i < 64; ++i) {
      for (int j = 0; j < 64; ++j) {
        x.a[static_cast<std::size_t>(i * 64 + j)] = std::ldexp(1.0f + i / 64.0f, -j);
        x.b[static_cast<std::size_t>(i * 64 + j)] = std::ldexp(1.0f + j / 64.0f, i - 64);
      }
    }
  };
  EXPECT_EQ(verdict(p, 0, slope).failure, "");
}

TEST_P(FullRange, PassesInfinitiesAndNanOn) {
  const Problem p = compact(140, 133, 65, Layout::row_major, false, false, 1.5f, 0.5f);
  const auto plant = [&](HostOperands& x) {
    x.a[static_cast<std::size_t>(3 * p.lda + 5)] = kInf;
    x.a[static_cast<std::size_t>(139 * p.lda + 64)] = kNan;
    x.a[static_cast<std::size_t>(70 * p.lda)] = -kInf;
    x.b[static_cast<std::size_t>(5 * p.ldb + 132)] = -kInf;
    x.b[static_cast<std::size_t>(64 * p.ldb)] = 0.0f;
    x.b[static_cast<std::size_t>(60 * p.ldb + 17)] = kNan;
  };
  EXPECT_EQ(verdict(p, 4, plant).failure, "");
}

TEST_P(FullRange, HoldsDenormalsAndTheLargest) {
  const Problem p = compact(40, 50, 80);
  const auto row_of_denormals = [&](HostOperands& x) {
    for (std::int64_t i = 0; i < p.k; ++i)
      x.a[static_cast<std::size_t>(7 * p.lda + i)] *= 0x1p-135f;
    for (std::int64_t i = 0; i < p.k; ++i) x.b[static_cast<std::size_t>(i * p.ldb + 9)] *= 0x1p100f;
  };
  EXPECT_EQ(verdict(p, 2, row_of_denormals).failure, "");
  const auto among_others = [&](HostOperands& x) {
    x.a[static_cast<std::size_t>(20 * p.lda + 3)] = 0x1p-145f;
    x.b[static_cast<std::size_t>(3 * p.ldb + 30)] = 0x1p124f;
    x.b[static_cast<std::size_t>(4 * p.ldb + 31)] = 0.0f;
  };
  EXPECT_EQ(verdict(p, 2, among_others).failure, "");
}

// Tiles enough for clusters that share what they load, and last columns and rows for which that
// does not pay. These are worked on one below the other, and as columns of C's transpose. The first
// shape has both, and the last columns begin in the middle of what two blocks turn. 300 rows are
// too many to be thin. Of an odd number of columns every other row begins off a multiple of eight
// bytes. k = 70 makes an odd number of groups, of which the last is half empty. The last shape goes
// in wide tiles.
class FullRangeInClusters : public FullRange {
 protected:
  using Shapes = std::vector<std::pair<int, int>>;
  void expect_to_hold(const Shapes& shapes, runtime::Target target) const {
    for (const auto& [m, n] : shapes) {
      for (const double spread : {1.0, 20.0}) {
        for (const float beta : {0.0f, 0.5f}) {
          const Problem p = compact(m, n, 70, Layout::row_major, false, false, 1.5f, beta);
          EXPECT_EQ(verdict(p, spread, {}, target).failure, "")
              << m << 'x' << n << " 2^" << spread << " beta " << beta;
        }
      }
    }
  }
};
TEST_P(FullRangeInClusters, HoldsWhatLiesBesideTheirTiles) {
  const device::StandIn stand_in({.multiprocessors = 12});  // little work fills it
  expect_to_hold({{270, 820}, {300, 821}, {20, 1612}, {198, 1893}}, runtime::Target::cpu);
}
TEST_P(FullRangeInClusters, HoldsItOnAGpu) {
  const auto there = device::availability(runtime::Target::gpu);
  if (!there.available) GTEST_SKIP() << there.why_not;
  expect_to_hold({{270, 8500}, {300, 8501}, {20, 17100}, {198, 19301}}, runtime::Target::gpu);
}

// As many tiles below each other as a band has, and nothing behind them.
TEST_P(FullRangeInClusters, EndsWithAWholeBand) {
  EXPECT_EQ(verdict(compact(1000, 100, 70), 1).failure, "");
}

// 9 whole tiles and 2 thin ones, for 12 clusters at a time: the thin ones go to clusters of their
// own.
TEST_P(FullRangeInClusters, GivesThinTilesToBlocksThatWouldIdle) {
  const device::StandIn stand_in({.multiprocessors = 24});
  for (const double spread : {1.0, 20.0}) {
    EXPECT_EQ(verdict(compact(768, 778, 70), spread).failure, "") << "2^" << spread;
  }
}

// Lines enough that blocks of the pass begin when others have counted; and a last line that the
// first ones know nothing of.
TEST_P(FullRange, HoldsMoreLinesThanArePassedAtOnce) {
  const device::StandIn stand_in({.multiprocessors = 12});  // little work fills it
  for (const auto& [m, n, k] : {std::array{20, 391, 1100}, {400, 20, 70}, {20, 400, 70}}) {
    if (k > 1024 && GetParam() == std::string("tc_20_held_terms")) continue;  // it holds no more
    for (const bool transposed : {false, true}) {
      const Problem p = compact(m, n, k, Layout::row_major, transposed, transposed);
      EXPECT_EQ(verdict(p, 20).failure, "") << m << 'x' << n << 'x' << k;
      const auto spread_last = [&](HostOperands& x) {
        for (std::int64_t i = 0; i < p.k; ++i) {
          const float factor = std::ldexp(1.0f, static_cast<int>(i % 50) - 25);
          x.a[static_cast<std::size_t>(transposed ? i * p.lda + p.m - 1 : (p.m - 1) * p.lda + i)] *=
              factor;
          x.b[static_cast<std::size_t>(transposed ? (p.n - 1) * p.ldb + i : i * p.ldb + p.n - 1)] /=
              factor;
        }
      };
      EXPECT_EQ(verdict(p, 1, spread_last).failure, "") << m << 'x' << n << 'x' << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, FullRangeInClusters,
                         testing::Values("tc_10_full_range", "tc_13_mma_sync",
                                         "tc_14_prepared_full_range"),
                         [](const auto& rung) { return std::string(rung.param); });
INSTANTIATE_TEST_SUITE_P(, FullRange,
                         testing::Values("tc_02_3xtf32", "tc_03_promoted", "tc_10_full_range",
                                         "tc_13_mma_sync", "tc_14_prepared_full_range",
                                         "tc_18_streamed_terms", "tc_19_cluster_slices",
                                         "tc_20_held_terms"),
                         [](const auto& rung) { return std::string(rung.param); });

// Of each way to store a tile: rows of an even and an odd number of columns, and sums that blocks
// of a cluster share. Also the columns of C's transpose, and elements that no pairs hold.
class FullRangeWithSource : public FullRange {};
TEST_P(FullRangeWithSource, AddsAnotherMatrixOrARow) {
  const device::StandIn stand_in({.multiprocessors = 12});  // little work fills it
  for (const auto& [m, n, k] :
       {std::array{270, 820, 70}, {300, 821, 70}, {20, 1612, 70}, {60, 70, 1100}}) {
    Problem p = compact(m, n, k, Layout::row_major, false, false, 1.5f, 0.5f);
    for (const double spread : {1.0, 20.0}) {
      for (const std::int64_t ld : {0, n, n + 3}) {
        ld_source_ = ld;
        const auto plant = [&](HostOperands& x) { x.a[1] = spread > 1 ? kInf : 1.0f; };
        EXPECT_EQ(verdict(p, spread, plant).failure, "")
            << m << 'x' << n << " 2^" << spread << " rows " << ld << " apart";
      }
    }
  }
}
// Whole waves of tiles, and a second launch for the tiles that are left. These lie below the others
// or beside them, in clusters of two blocks and of eight. Two tiles in clusters of three blocks.
TEST_P(FullRangeWithSource, HoldsALastWaveOfItsOwn) {
  for (const auto& [m, n, k, multiprocessors] : {std::array{590, 101, 1100, 4},
                                                 {101, 590, 1100, 4},
                                                 {40, 1580, 1030, 12},
                                                 {200, 101, 2100, 7}}) {
    const device::StandIn stand_in({.multiprocessors = multiprocessors});
    const Problem p = compact(m, n, k, Layout::row_major, m > n, false, 1.5f, 0.5f);
    for (const double spread : {1.0, 20.0}) {
      for (const std::int64_t ld : {-1, 0, n + 2}) {
        if (k > 2048 && ld >= 0) continue;  // a long k takes long
        ld_source_ = ld;
        EXPECT_EQ(verdict(p, spread).failure, "")
            << m << 'x' << n << 'x' << k << " 2^" << spread << ", source's rows " << ld << " apart";
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, FullRangeWithSource,
                         testing::Values("tc_10_full_range", "tc_14_prepared_full_range"),
                         [](const auto& rung) { return std::string(rung.param); });

// A stream's CTAs go through several tiles, of each of its configurations. What one tile has lost
// is made good in it and harms no other. Lines that begin at any word lie in all four ways.
class FullRangeInAStream : public FullRange {};
TEST_P(FullRangeInAStream, HoldsTileAfterTile) {
  const device::StandIn stand_in({.multiprocessors = 1});
  for (const auto& [m, n, k] :
       {std::array{520, 384, 70}, {200, 64, 70}, {130, 95, 33}, {200, 96, 100}, {200, 31, 64}}) {
    for (const auto& [trans_a, trans_b] :
         {std::pair{false, false}, {true, true}, {false, true}, {true, false}}) {
      if (trans_a != trans_b && m != 130) continue;
      const Problem p =
          compact(m, n, k, Layout::row_major, trans_a, trans_b, 1.5f, n % 2 ? 0.5f : 0.0f);
      const auto line_of_denormals = [&](HostOperands& x) {
        for (std::int64_t i = 0; i < p.k; ++i) {
          x.a[static_cast<std::size_t>(p.trans_a ? i * p.lda + 70 : 70 * p.lda + i)] *= 0x1p-135f;
          x.b[static_cast<std::size_t>(p.trans_b ? 9 * p.ldb + i : i * p.ldb + 9)] *= 0x1p100f;
        }
        x.a[1] = kInf;
      };
      EXPECT_EQ(verdict(p, 2, line_of_denormals).failure, "") << m << 'x' << n << 'x' << k;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, FullRangeInAStream,
                         testing::Values("tc_18_streamed_terms", "tc_19_cluster_slices",
                                         "tc_20_held_terms", "tc_21_mapped_lines"),
                         [](const auto& rung) { return std::string(rung.param); });

// The slices of k overflow, up and down; the product does not.
class FullRangeInSlices : public FullRange {};
TEST_P(FullRangeInSlices, HoldsWhatOverflowsInASlice) {
  for (const bool transposed : {false, true}) {
    for (const std::int64_t n : {50, 52, 300}) {  // the copy engine brings 50 as four matrices
      const Problem p = compact(40, n, 1024, Layout::row_major, transposed, transposed, 1.5f, 0.5f);
      const auto plant = [&](HostOperands& x) {
        for (float& a : x.a) a = 0x1p63f;
        for (std::int64_t k = 0; k < p.k; ++k) {
          for (std::int64_t j = 0; j < n; ++j) {
            const auto at = static_cast<std::size_t>(transposed ? j * p.ldb + k : k * p.ldb + j);
            x.b[at] = k < p.k / 2 ? 0x1p64f : -0x1p64f;
          }
        }
      };
      EXPECT_EQ(verdict(p, 1, plant).failure, "") << n << " columns";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, FullRangeInSlices,
                         testing::Values("tc_15_split_on_the_way", "tc_19_cluster_slices",
                                         "tc_21_mapped_lines"),
                         [](const auto& rung) { return std::string(rung.param); });

// A product by warps chooses its tiles by a block's shared memory and by what fills the
// multiprocessors. There are large ones in rings of four and of three stages, middle ones, and
// small ones. With one multiprocessor blocks begin when others know already that FP16 pairs do not
// suffice.
class FullRangeByWarps : public FullRange {};
TEST_P(FullRangeByWarps, HoldsWithTheTilesOfEveryMachine) {
  for (const int kilobytes : {227, 163, 99}) {
    runtime::Machine machine;
    machine.capability = 80;
    machine.multiprocessors = 1;
    machine.shared_bytes_per_block = kilobytes << 10;
    machine.shared_bytes_per_multiprocessor = (kilobytes + 1) << 10;
    const device::StandIn stand_in(machine);
    for (const auto& [m, n, k] : {std::array{300, 520, 200}, {70, 60, 1100}, {131, 259, 33}}) {
      for (const double spread : {1.0, 20.0}) {
        const Problem p = compact(m, n, k, Layout::row_major, n == 60, n == 60, 1.5f, 0.5f);
        EXPECT_EQ(verdict(p, spread).failure, "")
            << kilobytes << " KB, " << m << 'x' << n << 'x' << k << " 2^" << spread;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(, FullRangeByWarps, testing::Values("tc_13_mma_sync"),
                         [](const auto& rung) { return std::string(rung.param); });

}  // namespace
}  // namespace warpladder::sgemm
