// The warp exchange: blocks that tiles do not fill, and a judge that catches planted faults.

#include <gtest/gtest.h>

#include <utility>

#include "lab/verify.hpp"
#include "ops/warp/problem.hpp"

namespace warpladder::warp {
namespace {

// A warp without a tile asks for nothing, so that predictions hold for any number of tiles.
TEST(WarpExchange, AsksForWhatItsHeadersSay) {
  const ops::Operator& op = ops::find_operator("warp");
  for (const std::int64_t tiles : {1, 8, 13}) {
    for (const ladder::AnyRung* rung : ladder::rungs_of("warp")) {
      const auto trial = op.case_of_shape({tiles}).prepare(runtime::Target::cpu);
      EXPECT_EQ(trial->minimal_bytes(), 2.0 * 4 * 32 * 4 * static_cast<double>(tiles));
      device::Stream stream(runtime::Target::cpu);
      std::vector<executor::KernelCounts> counts;
      stream.record_counts = &counts;
      trial->reset();
      rung->launcher(runtime::Flavour::counted)(trial->call(), stream);
      EXPECT_TRUE(rung->predict(trial->call(), runtime::Machine()) == ladder::totals_of(counts))
          << rung->id << " of " << tiles;
    }
  }
}

// What a rung with a fault would do, one fault each.
enum class Fault { none, left_out, not_transposed, two_swapped, before, behind, to_the_input };
Fault planted = Fault::none;

void launch_planted(const Call& call, runtime::StreamView&) {
  if (call.tiles == 0) return;
  for (std::int64_t tile = 0; tile < call.tiles; ++tile) {
    const float* in = call.in + 128 * tile;
    float* out = call.out + 128 * tile;
    for (int column = 0; column < 4; ++column) {
      for (int row = 0; row < 32; ++row) {
        const bool is_last = tile == call.tiles - 1 && column == 3 && row == 31;
        if (planted == Fault::left_out && is_last) continue;
        *out++ = planted == Fault::not_transposed ? in[32 * column + row] : in[4 * row + column];
      }
    }
  }
  float* const last = call.out + 128 * call.tiles;
  if (planted == Fault::two_swapped) std::swap(last[-1], last[-2]);
  if (planted == Fault::before) call.out[-1] = 1;
  if (planted == Fault::behind) *last = 1;
  if (planted == Fault::to_the_input) const_cast<float*>(call.in)[1] = 7;
}

std::size_t failures() {
  ladder::AnyRung rung;
  rung.op = "warp";
  rung.id = "planted";
  rung.launch[static_cast<int>(runtime::Flavour::plain)] = launch_planted;
  lab::VerifyRequest request;
  request.rungs = {{&ops::find_operator("warp"), &rung}};
  return lab::verify(request)[0].failures();
}

TEST(WarpJudge, CatchesPlantedFaults) {
  planted = Fault::none;
  EXPECT_EQ(failures(), 0);
  const std::size_t with_tiles = ops::find_operator("warp").cases().size() - 1;
  for (const Fault fault : {Fault::left_out, Fault::not_transposed, Fault::two_swapped,
                            Fault::before, Fault::behind, Fault::to_the_input}) {
    planted = fault;
    EXPECT_EQ(failures(), with_tiles) << static_cast<int>(fault);
  }
}

}  // namespace
}  // namespace warpladder::warp
