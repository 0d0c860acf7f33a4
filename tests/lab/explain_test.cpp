#include "lab/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.hpp"

namespace warpladder::lab {
namespace {

using executor::AccessCounts;
using executor::AccessKind;
using executor::MemorySpace;

// Accesses of 32 lanes, one line each.
AccessCounts global(int line, AccessKind kind, int bytes, std::uint64_t requests,
                    std::uint64_t sectors, std::uint64_t ideal) {
  return {
      "k.cu", line, MemorySpace::global, kind, bytes, requests, 32 * requests, sectors, ideal, 0,
      0,      0};
}
AccessCounts shared(int line, AccessKind kind, int bytes, std::uint64_t requests,
                    std::uint64_t wavefronts, std::uint64_t ideal) {
  return {"k.cu", line, MemorySpace::shared, kind,  bytes, requests, 32 * requests,
          0,      0,    wavefronts,          ideal, 0};
}
executor::KernelCounts kernel(std::vector<AccessCounts> accesses,
                              std::vector<executor::EventCounts> events = {}) {
  executor::KernelCounts counts;
  counts.accesses = std::move(accesses);
  counts.events = std::move(events);
  return counts;
}
std::string sentence(const executor::KernelCounts& counts) {
  const auto verdict = blame(lines_of({counts}));
  return verdict ? verdict->sentence : "nobody";
}

TEST(CostModel, AGlobalRequestTakesACycleOrOneForFourSectors) {
  constexpr auto kLoad = AccessKind::load;
  EXPECT_EQ(l1_cycles(global(1, kLoad, 4, 10, 10, 10)), 10);   // broadcasts
  EXPECT_EQ(l1_cycles(global(1, kLoad, 4, 10, 40, 40)), 10);   // neighbouring words
  EXPECT_EQ(l1_cycles(global(1, kLoad, 4, 10, 50, 40)), 13);   // 12.5, misaligned
  EXPECT_EQ(l1_cycles(global(1, kLoad, 4, 10, 320, 40)), 80);  // strided
  EXPECT_EQ(ideal_l1_cycles(global(1, kLoad, 4, 10, 320, 40)), 10);
  EXPECT_EQ(l1_cycles(global(1, kLoad, 16, 10, 160, 160)), 40);  // float4
}

TEST(CostModel, ASharedWavefrontTakesACycle) {
  EXPECT_EQ(l1_cycles(shared(1, AccessKind::load, 16, 10, 80, 40)), 80);
  EXPECT_EQ(ideal_l1_cycles(shared(1, AccessKind::load, 16, 10, 80, 40)), 40);
}

TEST(LinesOf, MergesLaunchesAndSortsByCost) {
  const auto once = kernel(
      {global(3, AccessKind::load, 4, 10, 40, 40), shared(3, AccessKind::store, 4, 10, 20, 10),
       global(9, AccessKind::store, 4, 100, 400, 400)},
      {{"k.cu", 5, 640, 2, 1, 1024, 4096}, {"k.cu", 9, 32, 0, 0}});
  const std::vector<LineCounts> lines = lines_of({once, once});
  ASSERT_EQ(lines.size(), 3);
  EXPECT_EQ(lines[0].line, 9);
  EXPECT_EQ(lines[0].cost(), 200);
  EXPECT_EQ(lines[0].fmas, 64);
  EXPECT_EQ(lines[1].line, 3);
  ASSERT_EQ(lines[1].accesses.size(), 2);
  EXPECT_EQ(lines[1].accesses[0].requests, 20);
  EXPECT_EQ(lines[1].accesses[0].lanes, 640);
  EXPECT_EQ(lines[1].cost(), 20 + 40);
  EXPECT_EQ(lines[1].ideal_cost(), 20 + 20);
  EXPECT_EQ(lines[1].avoidable(), 20);
  EXPECT_EQ(lines[2].line, 5);
  EXPECT_EQ(lines[2].fmas, 1280);
  EXPECT_EQ(lines[2].barriers, 4);
  EXPECT_EQ(lines[2].shuffles, 2);
  EXPECT_EQ(lines[2].bulk_bytes, 2048);
  EXPECT_EQ(lines[2].tensor_fmas, 8192);
  EXPECT_EQ(ladder::totals_of({once, once}).bulk_bytes, 2048);
  EXPECT_EQ(ladder::totals_of({once, once}).tensor_fmas, 8192);
}

TEST(Blame, FallsOnTheMostAvoidableCost) {
  // Line 1 costs more, line 2 wastes more.
  const auto counts = kernel({global(1, AccessKind::load, 4, 1000, 4000, 4000),
                              global(2, AccessKind::store, 4, 100, 3200, 400)});
  const auto lines = lines_of({counts});
  const auto verdict = blame(lines);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(lines[verdict->line].line, 2);
  EXPECT_EQ(verdict->sentence,
            "each store touches 32 sectors where 4 would do: lanes stride through memory");
}

TEST(Blame, SaysWhatTheCountsMean) {
  constexpr auto kLoad = AccessKind::load;
  EXPECT_EQ(
      sentence(kernel({global(1, kLoad, 4, 100, 500, 400)})),
      "each load touches 5 sectors where 4 would do: the addresses do not begin where a sector "
      "does");
  EXPECT_EQ(sentence(kernel({shared(1, kLoad, 16, 100, 800, 400)})),
            "each load takes 8 wavefronts where 4 would do: bank conflicts");
  EXPECT_EQ(
      sentence(kernel({global(1, kLoad, 4, 200, 400, 300)}, {{"k.cu", 1, 3200, 0, 0}})),
      "2 requests for 32 FMAs: every operand comes from global memory (0.25 would keep the FP32 "
      "units busy)");
  EXPECT_EQ(sentence(kernel({shared(1, kLoad, 4, 100, 100, 100)}, {{"k.cu", 2, 3200, 0, 0}})),
            "1 wavefront for 32 FMAs of the kernel: one operand of each comes from shared memory "
            "(0.25 would keep the FP32 units busy)");
  // Eight FMAs for each word loaded: a float4 costs 4 wavefronts and feeds 32.
  EXPECT_EQ(
      sentence(kernel({shared(1, kLoad, 16, 100, 400, 400)}, {{"k.cu", 2, 102400, 0, 0}})),
      "0.125 wavefronts for 32 FMAs of the kernel: the FP32 units bind before this line does");
  // A float4 for 4 FMAs: one request, but four cycles of the L1 data stage.
  EXPECT_EQ(sentence(kernel({global(1, kLoad, 16, 100, 1600, 1600)}, {{"k.cu", 2, 12800, 0, 0}})),
            "1 L1 cycle for 32 FMAs of the kernel: one operand of each comes from global memory "
            "(0.25 would keep the FP32 units busy)");
  EXPECT_EQ(sentence(kernel({global(1, kLoad, 4, 100, 400, 400)})),
            "nothing to save, it moves no more than the bytes it asks for");
  EXPECT_EQ(sentence(kernel({global(1, kLoad, 4, 100, 200, 100)})),
            "nothing to save, fewer sectors would take as many cycles");
  EXPECT_EQ(sentence(kernel({}, {{"k.cu", 1, 32, 0, 0}})), "nobody");
}

TEST(Blame, IgnoresWasteBelowOneInAHundred) {
  const auto with_waste = [](std::uint64_t sectors) {
    return sentence(kernel({global(1, AccessKind::load, 4, 10000, 40000, 40000),
                            global(2, AccessKind::load, 4, 100, sectors, 400)}));
  };
  EXPECT_EQ(with_waste(400 + 4 * 90).substr(0, 15), "nothing to save");
  EXPECT_EQ(with_waste(400 + 4 * 110).substr(0, 9), "each load");
}

// 64x64x64 with a 16x16 block: 16 blocks of 8 warps, 128 warps, 64 steps each. A step asks for one
// word of A for either of the warp's two rows and for sixteen words of B.
TEST(Explain, NaiveSgemmAsWorkedOutByHand) {
  constexpr std::uint64_t kWarps = 128, kSteps = 64;
  const Explanation e = explain(select_one("sgemm/row_01_naive"), {64, 64, 64}, "", {2});
  EXPECT_EQ(e.full_name(), "sgemm/row_01_naive");
  ASSERT_EQ(e.launches.size(), 1);
  EXPECT_EQ(e.launches[0].grid, (runtime::Dim3{16, 1, 1}));
  EXPECT_EQ(e.launches[0].block, (runtime::Dim3{16, 16, 1}));
  EXPECT_EQ(e.launches[0].dynamic_shared_bytes, 0);
  EXPECT_EQ(e.flops, 2.0 * 64 * 64 * 64);
  EXPECT_EQ(e.minimal_bytes, 3 * 4.0 * 64 * 64);

  EXPECT_EQ(e.totals.global_load_requests, 2 * kWarps * kSteps);
  EXPECT_EQ(e.totals.global_load_sectors, 4 * kWarps * kSteps);
  EXPECT_EQ(e.ideal.global_load_sectors, 3 * kWarps * kSteps);  // A's two words fit in one
  EXPECT_EQ(e.ideal.global_load_requests, e.totals.global_load_requests);
  EXPECT_EQ(e.totals.global_store_sectors, 4 * kWarps);
  EXPECT_EQ(e.totals.fmas, 64 * 64 * 64);
  EXPECT_TRUE(e.prediction_holds());

  ASSERT_EQ(e.lines.size(), 2);
  const LineCounts& product = e.lines[0];
  EXPECT_EQ(product.file, "src/ops/sgemm/rungs/row_01_naive.cu");
  EXPECT_EQ(product.fmas, 64 * 64 * 64);
  EXPECT_EQ(product.cost(), 2 * kWarps * kSteps);
  ASSERT_EQ(product.accesses.size(), 1);
  EXPECT_EQ(product.accesses[0].lanes, 32 * product.accesses[0].requests);
  EXPECT_EQ(product.accesses[0].worst, 2);
  EXPECT_EQ(e.lines[1].cost(), kWarps);
  EXPECT_EQ(e.cost(), 2 * kWarps * kSteps + kWarps);

  ASSERT_TRUE(e.to_blame);
  EXPECT_EQ(e.to_blame->line, 0);
  EXPECT_EQ(
      e.to_blame->sentence,
      "2 requests for 32 FMAs: every operand comes from global memory (0.25 would keep the FP32 "
      "units busy)");
}

TEST(Explain, BlockTileMovesTheLoadsToSharedMemory) {
  const Explanation e = explain(select_one("sgemm/row_02_block_tile"), {64, 64, 64}, "", {2});
  EXPECT_TRUE(e.prediction_holds());
  EXPECT_TRUE(std::ranges::is_sorted(e.lines, std::greater<>(), &LineCounts::cost));
  EXPECT_EQ(e.lines[0].accesses[0].space, MemorySpace::shared);
  EXPECT_EQ(e.to_blame->sentence,
            "2 wavefronts for 32 FMAs: every operand comes from shared memory (0.25 would keep the "
            "FP32 units busy)");
  // 128 warps · 64 steps · 2 loads, and 128 · 4 tiles · 2 stores.
  EXPECT_EQ(e.fmas_per_shared_wavefront(), 64.0 * 64 * 64 / (128 * 64 * 2 + 128 * 4 * 2));
}

TEST(Explain, PredictionIsForWholeTiles) {
  const Explanation e = explain(select_one("sgemm/row_01_naive"), {17, 16, 16}, "", {1});
  ASSERT_TRUE(e.predicted);
  EXPECT_FALSE(e.prediction_holds());
  EXPECT_EQ(e.totals.fmas, 17 * 16 * 16);
}

TEST(Explain, APredictionMayLeaveTotalsOpen) {
  const Explanation e = explain(select_one("spmv/06_merge"), {1024, 1024, 32}, "", {2});
  ASSERT_TRUE(e.predicted);
  EXPECT_EQ(e.predicted->global_load_sectors, ladder::kNotPredicted);
  EXPECT_NE(e.totals.global_load_sectors, ladder::kNotPredicted);
  EXPECT_TRUE(e.prediction_holds());
  ladder::Totals counted = e.totals;
  ++counted.global_load_sectors;
  EXPECT_TRUE(ladder::agrees(counted, *e.predicted)) << "left open";
  ++counted.barriers;
  EXPECT_FALSE(ladder::agrees(counted, *e.predicted)) << "predicted";
}

TEST(Explain, AMatrixHasNoPrediction) {
  const Explanation e = explain(select_one("spmv/01_scalar"), {}, "banded:rows=96,band=5", {2});
  EXPECT_FALSE(e.predicted);
  EXPECT_FALSE(e.prediction_holds());
  EXPECT_TRUE(e.shape.empty());
  EXPECT_EQ(e.variant, "banded:rows=96,band=5");
  EXPECT_EQ(e.totals.fmas, 96 * 5 - 2 * (2 + 1));
}

// Of 32 lanes that take a row each, one walks on alone to the end of the longest.
TEST(Explain, ShowsLanesInUse) {
  const Selected scalar = select_one("spmv/01_scalar");
  const Explanation full = explain(scalar, {}, "uniform:rows=64,columns=64,per_row=4", {1});
  EXPECT_EQ(full.lanes_per_global_load(), 32);
  const Explanation alone = explain(scalar, {}, "single_row:columns=500", {1});
  EXPECT_LT(alone.lanes_per_global_load(), 1.5);
  EXPECT_LE(alone.ideal_sectors_per_global_load(), alone.sectors_per_global_load());
  EXPECT_EQ(Explanation().lanes_per_global_load(), 0);
}

TEST(Explain, NothingToComputeIsNoError) {
  const Explanation e = explain(select_one("sgemm/row_01_naive"), {0, 16, 16}, "", {1});
  EXPECT_TRUE(e.launches.empty());
  EXPECT_TRUE(e.lines.empty());
  EXPECT_FALSE(e.to_blame);
}

TEST(Explain, CountsDoNotDependOnThreads) {
  const Selected rung = select_one("sgemm/row_02_block_tile");
  const Explanation one = explain(rung, {70, 50, 40}, "", {1}),
                    three = explain(rung, {70, 50, 40}, "", {3});
  EXPECT_EQ(one.launches, three.launches);
}

TEST(Explain, AHostFunctionHasNothingToCount) {
  try {
    explain(select_one("sgemm/row_00_serial"), {16, 16, 16}, "", {1});
    FAIL() << "explained";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_STREQ(error.what(),
                 "sgemm/row_00_serial cannot be explained: a host function; it has no GPU form and "
                 "nothing to count");
  }
}

TEST(Explain, AnnouncesWhatItWillTake) {
  double seconds = 0;
  explain(select_one("sgemm/row_01_naive"), {32, 32, 32}, "", {2, [&](double s) { seconds = s; }});
  EXPECT_DOUBLE_EQ(seconds, 32 * 32 * 32 * 20e-9 / 2);
}

TEST(Explain, ReadsTheLinesOfSource) {
  ::setenv("WARPLADDER_SOURCE_DIR", WARPLADDER_SOURCE_DIR, 1);
  const Explanation e = explain(select_one("sgemm/row_01_naive"), {16, 16, 16}, "", {1});
  EXPECT_EQ(e.lines[0].text, "sum += a_at[k * a.across()] * b_at[k * b.down()];");
  ::unsetenv("WARPLADDER_SOURCE_DIR");
}

// `explain OP/RUNG`, and so `make rung`, needs no shape.
TEST(Explain, EveryCountedRungHasAProblemOfItsOwn) {
  for (const Selected& selected : select({})) {
    if (!selected.rung->launcher(runtime::Flavour::counted)) continue;
    const auto [shape, variant] = problem_to_explain({selected}, {});
    const auto trial = selected.op->case_of_shape(shape, variant).prepare(runtime::Target::cpu);
    EXPECT_EQ(ladder::why_not(*selected.rung, trial->call()), "") << selected.rung->full_name();
  }
}

TEST(Explain, EveryCountedRungHasItsLinesInItsOwnFile) {
  for (const Selected& selected : select({})) {
    if (!selected.rung->launcher(runtime::Flavour::counted)) continue;
    if (selected.rung->is_dispatch()) continue;  // its lines are those of the planned rung
    std::vector<std::int64_t> shape;
    const std::vector<std::string> variants = selected.op->variants();
    auto variant = variants.end();
    for (const std::int64_t size : {64, 16, 1}) {  // the others for rungs of small problems
      if (variant != variants.end()) break;
      shape.assign(selected.op->default_shape().size(), size);
      variant = std::ranges::find_if(variants, [&](const std::string& v) {
        const auto trial = selected.op->case_of_shape(shape, v).prepare(runtime::Target::cpu);
        return ladder::why_not(*selected.rung, trial->call()).empty();
      });
    }
    ASSERT_NE(variant, variants.end()) << selected.rung->full_name();
    const Explanation e = explain(selected, shape, *variant, {2});
    ASSERT_FALSE(e.lines.empty()) << e.full_name();
    EXPECT_TRUE(e.to_blame) << e.full_name();
    // A kernel that rungs share lies in a header of the operator.
    const std::string header = "src/ops/" + selected.op->name() + "/rung_";
    const bool shares_kernel = std::ranges::any_of(
        e.lines, [&](const LineCounts& line) { return line.file.starts_with(header); });
    bool is_there = shares_kernel;
    for (const LineCounts& line : e.lines) {
      const bool own = line.file.find(selected.rung->id) != std::string::npos;
      is_there |= own;
      // The pass in front of a product on tensor cores is a kernel whose source rungs share.
      const bool shared = (selected.rung->arithmetic.tensor_cores() || shares_kernel) &&
                          line.file.find("/rungs/") == std::string::npos;
      EXPECT_TRUE(own || shared) << e.full_name() << ": " << line.file;
      EXPECT_GT(line.line, 0) << e.full_name();
    }
    EXPECT_TRUE(is_there) << e.full_name();
  }
}

// 1,024 FLOP on 128 bytes in DRAM, 64 sectors and 40 L1 cycles.
Explanation small() {
  Explanation e;
  e.flops = 1024;
  e.minimal_bytes = 128;
  e.totals.global_load_sectors = 60;
  e.totals.global_store_sectors = 4;
  e.totals.fmas = 512;
  e.totals.shared_load_wavefronts = 24;
  e.lines = lines_of({kernel(
      {global(1, AccessKind::load, 4, 16, 64, 64), shared(2, AccessKind::load, 4, 24, 24, 24)})});
  return e;
}

TEST(Roofline, CountsTensorCoresWhereLoadsFeedThem) {
  Explanation e = small();
  e.totals.tensor_fmas = 1536;
  EXPECT_EQ(e.fmas_per_sector_byte(), 2048.0 / (64 * 32));
  EXPECT_EQ(e.fmas_per_shared_wavefront(), 2048.0 / 24);
  e.totals.bulk_bytes = 64;  // what feeds them then is the copy engine
  EXPECT_EQ(e.fmas_per_sector_byte(), 512.0 / (64 * 32));
}

const double kPeak = find_gpu("h200").fp32_flops_per_s();

TEST(Roofline, CeilingsFollowFromBytes) {
  const Explanation e = small();
  EXPECT_EQ(e.fmas_per_sector_byte(), 512.0 / (64 * 32));
  EXPECT_EQ(e.fmas_per_shared_wavefront(), 512.0 / 24);
  const std::vector<Roof> roofs = e.roofs();
  ASSERT_EQ(roofs.size(), 3);
  EXPECT_EQ(roofs[0].bytes, 128);
  EXPECT_EQ(roofs[1].bytes, 64 * 32);
  EXPECT_EQ(roofs[2].bytes, 40 * 128);
  EXPECT_DOUBLE_EQ(e.ceiling(roofs[0]), 8 * 4.28e12);
  EXPECT_DOUBLE_EQ(e.ceiling(roofs[1]), 0.5 * 132 * 1.98e9 * 128);
  EXPECT_DOUBLE_EQ(e.ceiling(roofs[2]), 0.2 * 132 * 1.98e9 * 128);
  EXPECT_EQ(e.binding(roofs), &roofs[2]);
}

TEST(Roofline, ThePeakIsTheProductOfItsParts) {
  EXPECT_NEAR(kPeak / 66.9e12, 1, 1e-3);  // the data sheet's
}

TEST(Roofline, EnoughArithmeticBindsTheUnits) {
  Explanation e = small();
  e.flops = 1e6;
  const std::vector<Roof> roofs = e.roofs();
  EXPECT_EQ(e.ceiling(roofs[2]), kPeak);
  EXPECT_EQ(e.binding(roofs), nullptr);
}

// Three products of halves for each FMA: a third of their rate.
TEST(Roofline, TensorCoresPayForEachProduct) {
  Explanation e = small();
  e.flops = 1e6;
  e.tensor_flops_per_s = 900e12;
  EXPECT_EQ(e.peak().flops_per_s, kPeak) << "nothing was multiplied there";
  e.totals.tensor_fmas = 1'500'000;
  EXPECT_DOUBLE_EQ(e.peak().flops_per_s, 300e12);
  const std::vector<Roof> roofs = e.roofs();
  EXPECT_DOUBLE_EQ(e.ceiling(Roof{}), 300e12);
  EXPECT_EQ(e.binding(roofs), nullptr);
  e.totals.tensor_fmas = 500;
  EXPECT_EQ(e.binding(roofs), &roofs[2]);
}

TEST(Roofline, WithoutArithmeticBytesBind) {
  Explanation e = small();
  e.flops = 0;
  e.minimal_bytes = 2048;
  const std::vector<Roof> roofs = e.roofs();
  EXPECT_EQ(e.ceiling(roofs[0]), 0);
  EXPECT_EQ(e.binding(roofs), &roofs[0]);
}

}  // namespace
}  // namespace warpladder::lab
