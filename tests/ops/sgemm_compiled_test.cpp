// The product that is compiled at run time, as the executor runs it. Every tile is chosen for some
// case and machine, and each is right.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "device/device.hpp"
#include "ops/lab/operator.hpp"
#include "ops/sgemm/compiled_text.hpp"

namespace warpladder::sgemm {
namespace {

TEST(SgemmCompiled, IsRightInEveryTile) {
  const ladder::AnyRung& rung = ladder::find_rung("sgemm", "row_21_constant_sizes");
  std::set<int> tiles;
  for (const int multiprocessors : {1, 4, 132}) {
    runtime::Machine machine;
    machine.multiprocessors = multiprocessors;
    const device::StandIn stand_in(machine);
    for (const ops::Case& c : ops::find_operator("sgemm").cases()) {
      SCOPED_TRACE(c.name);
      const auto trial = c.prepare(runtime::Target::cpu);
      trial->reset();
      trial->expect(rung.arithmetic_for(trial->call()));
      if (!ladder::why_not(rung, trial->call()).empty()) continue;
      const Call call = in_layout(trial->call().as<Call>(), Layout::row_major);
      tiles.insert(compiled_tile(call.problem.m, call.problem.n, machine));
      device::Stream stream(runtime::Target::cpu);
      rung.launcher(runtime::Flavour::plain)(trial->call(), stream);
      EXPECT_EQ(trial->judge().failure, "");
    }
  }
  EXPECT_EQ(tiles.size(), std::size(kCompiledTiles));
}

TEST(SgemmCompiled, TakesLargeTilesWhereTheyFillTheGpu) {
  const runtime::Machine machine;
  EXPECT_EQ(compiled_tile(4096, 4096, machine), 0);
  EXPECT_EQ(compiled_tile(1 << 20, 128, machine), 0);
  EXPECT_EQ(compiled_tile(100, 100, machine), 2);
}

TEST(SgemmCompiled, NamesWhatIsConstant) {
  const Problem p = compact(1, 2, 3, Layout::row_major, false, true, 0.0f, 0.0f);
  EXPECT_STREQ(constant_product(p, 4, kCompiledTiles[0]).text,
               "multiply_by_parity<ParityShape<128, 128, 8, 2>, true, false, 4, "
               "ConstantProduct<1L, 2L, 0L, 3L, 3L, 2L, Factor::any, Factor::zero>>");
  // The longest name fits.
  Problem large = p;
  for (std::int64_t* number : {&large.m, &large.n, &large.k, &large.lda, &large.ldb, &large.ldc}) {
    *number = INT64_MAX;
  }
  large.alpha = 2.0f;
  const std::string name = constant_product(large, 4, kCompiledTiles[0]).text;
  EXPECT_TRUE(name.ends_with("Factor::zero>>")) << name;
}

}  // namespace
}  // namespace warpladder::sgemm
