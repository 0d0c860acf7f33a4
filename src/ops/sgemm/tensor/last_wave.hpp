#pragma once
// A product whose last wave has few tiles is launched as two, whole waves of tiles first. Then
// clusters of blocks compute the tiles of what is left of C together, each block a part of k. So a
// last wave of 12 tiles takes an eighth of a wave's time.

#include "ops/sgemm/tensor/tile_schedule.hpp"
#include "ops/sgemm/tensor/workspace.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// How much of C the first launch computes: all columns of the first rows, or all rows of the first
// columns. All of C: there is no second launch.
struct FirstPart {
  std::int64_t rows, columns;
};

// What one launch computes of C.
struct Part {
  std::int64_t row, column, rows, columns;

  Gemm sizes(Gemm g) const {
    g.m = rows, g.n = columns;
    return g;
  }
  Gemm of(Gemm g) const {
    g.c += row * g.ldc + column;
    g.source += row * g.ld_source + column;
    return sizes(g);
  }
  // Losses and tickets are those of whole operands: a second launch decides as the first, and finds
  // no ticket left.
  SplitGemm of(SplitGemm s) const {
    s.a = lines_from(s.a, row);
    s.b = lines_from(s.b, column);
    return s;
  }

 private:
  static parts::SplitOperand lines_from(parts::SplitOperand x, std::int64_t line) {
    x.data += line * (x.contiguous ? x.ld : 1);
    x.pairs += line * x.line_bytes;
    x.factor += line;
    x.lines -= line;
    return x;
  }
};

// Calls run.template operator()<config>() with the tiles of a launch. Where a tile for each
// multiprocessor would leave two thirds of them idle, clusters of three share k. Parts of k are
// shorter sums, which are accurate enough without compensation. `is_rest`: of the second launch.
template <class Run>
void with_config(const Gemm& g, bool is_rest, std::int64_t depth, const runtime::Machine& machine,
                 const Run& run) {
  const std::int64_t multiprocessors = machine.multiprocessors,
                     small = tiles(g.m, 128) * tiles(g.n, 128);
  if (is_rest && 132 * small <= 12 * multiprocessors && depth >= 1024) {
    run.template operator()<TensorConfig{1, 8, 128, 6, 128, false}>();
  } else if (132 * small > 28 * multiprocessors && 132 * small <= 40 * multiprocessors &&
             depth >= 2048) {
    run.template operator()<TensorConfig{1, 3, 128, 6, 128, false}>();
  } else if (is_rest && 2 * small <= multiprocessors && depth >= 256) {
    run.template operator()<TensorConfig{1, 2, 128, 6}>();
  } else {
    with_tensor_config(g, depth, machine, run);
  }
}

// What a launch takes, in ns, as measured on an H100 with operands in its L2 cache.
template <TensorConfig config>
double time_of_launch(const Gemm& g, std::int64_t depth, const runtime::Machine& machine) {
  constexpr double kBeforeAndAfter = 8000, kOfUnit = 0.73;  // of time_of_waves()
  return kBeforeAndAfter + kOfUnit * static_cast<double>(depth) * time_of_waves<config>(g, machine);
}

// Calls run.template operator()<config>(part) for each launch.
template <class Run>
void for_parts(const Gemm& g, const FirstPart& first, std::int64_t depth,
               const runtime::Machine& machine, const Run& run) {
  const Part waves{0, 0, first.rows, first.columns};
  with_config(waves.sizes(g), false, depth, machine,
              [&]<TensorConfig config>() { run.template operator()<config>(waves); });
  if (first.rows == g.m && first.columns == g.n) return;
  const Part rest = first.rows < g.m ? Part{first.rows, 0, g.m - first.rows, g.n}
                                     : Part{0, first.columns, g.m, g.n - first.columns};
  with_config(rest.sizes(g), true, depth, machine,
              [&]<TensorConfig config>() { run.template operator()<config>(rest); });
}

// The whole waves of tiles, cut off below a row of tiles or behind a column, if that saves time.
inline FirstPart first_part(const Gemm& g, std::int64_t depth, const runtime::Machine& machine) {
  constexpr int kTile = 128;
  constexpr double kOverlap = 2500, kWorthwhile = 0.97;  // the second launch's start is hidden
  const std::int64_t rows = tiles(g.m, kTile), columns = tiles(g.n, kTile),
                     waves = rows * columns / machine.multiprocessors,
                     whole = waves * machine.multiprocessors;
  FirstPart best{g.m, g.n};
  if (waves == 0 || whole == rows * columns) return best;
  const auto time_of = [&](const FirstPart& first) {
    double time = 0;
    for_parts(g, first, depth, machine, [&]<TensorConfig config>(const Part& part) {
      const double overlap = time > 0 ? kOverlap : 0;
      time += time_of_launch<config>(part.sizes(g), depth, machine) - overlap;
    });
    return time;
  };
  double least = kWorthwhile * time_of(best);
  for (const FirstPart& part :
       {FirstPart{whole / columns * kTile, g.n}, FirstPart{g.m, whole / rows * kTile}}) {
    if (part.rows == 0 || part.columns == 0) continue;
    const double time = time_of(part);
    if (time < least) least = time, best = part;
  }
  return best;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
