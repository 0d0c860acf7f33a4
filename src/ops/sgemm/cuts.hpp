#pragma once
// How a candidate of plan() cuts C and k: the corrections of the model's times ask for it
// (corrections.hpp). Host code of plan().

#include "ops/sgemm/fitted_tiles.hpp"
#include "ops/sgemm/line_shares.hpp"
#include "ops/sgemm/low_tiles.hpp"
#include "ops/sgemm/parity_slices.hpp"
#include "ops/sgemm/plan.hpp"
#include "ops/sgemm/tensor/held_tiles.hpp"
#include "ops/sgemm/whole_depth.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// What a configuration takes: seconds, Slices or LinesSplit; and its cut.
template <class Taken>
struct WithCut {
  Taken taken;
  Cut cut;
};

// The tile of a configuration. `x_is_rows`: its tile_x lies along C's rows.
template <class C>
Cut cut_of(bool x_is_rows) {
  if constexpr (requires { C::tile_x; }) {
    return x_is_rows ? Cut{C::tile_x, C::tile_y} : Cut{C::tile_y, C::tile_x};
  } else {
    return {C::rows, C::columns};
  }
}

// For with_..._tile(): the configuration's cut, beside what it takes.
struct AndCut {
  const Problem& p;
  bool x_is_rows = true;

  template <class C>
  WithCut<double> operator()(double time_s) const {
    return {time_s, in_steps<C>()};
  }
  template <class C>
  WithCut<double> operator()(const HeldPlan& plan) const {
    return {plan.time_s, in_steps<C>()};
  }
  template <class C>
  WithCut<Slices> operator()(const Slices& slices) const {
    Cut cut = cut_of<C>(x_is_rows);
    cut.slices = slices.count;
    cut.steps = tiles(slices.rounds, slices.count);
    cut.partly = slices.whole_rows + slices.whole_columns > 0;
    return {slices, cut};
  }

 private:
  template <class C>
  Cut in_steps() const {
    Cut cut = cut_of<C>(x_is_rows);
    cut.steps = tiles(p.k, C::depth);
    return cut;
  }
};
// Of tiles whose tile_x lies along the side with fewer lines.
inline AndCut and_cut_by_lines(const Problem& p) { return {p, p.m <= p.n}; }

// The lines of a CTA are its tile, and the warps that share a line its slices.
struct AndCutOfLines {
  const LinesShape& shape;
  bool rows_are_few;

  template <class C>
  WithCut<double> operator()(const LinesSplit& split) const {
    const std::int64_t lines = tiles(shape.lines, split.blocks);
    Cut cut = rows_are_few ? Cut{C::rows, lines} : Cut{lines, C::rows};
    cut.slices = split.parts;
    return {split.time_s, cut};
  }
};

// The warps that part a tile's k are its slices; a CTA's turns, its steps.
struct AndCutOfShares {
  bool rows_are_few;

  template <class C>
  WithCut<SharedTiles> operator()(const SharedTiles& shared) const {
    const std::int64_t lines = lines_of_tile<C>(shared.part_bits);
    Cut cut = rows_are_few ? Cut{C::rows, lines} : Cut{lines, C::rows};
    cut.slices = 1 << shared.part_bits;
    cut.steps = shared.most_turns();
    cut.partly = shared.parted;
    return {shared, cut};
  }
};

// The warps that part a tile's k are its slices.
struct AndCutOfFitted {
  const Problem& p;

  template <class C>
  WithCut<double> operator()(const FittedPlan& plan) const {
    Cut cut = cut_of<C>(plan.rows_are_x);
    cut.slices = plan.warps;
    cut.steps = tiles(p.k, C::depth * plan.warps);
    return {plan.time_s, cut};
  }
};

// A CTA's warps have the tile together.
struct AndCutOfWhole {
  const Problem& p;

  template <class C>
  WithCut<double> operator()(const WholePlan& plan) const {
    Cut cut{plan.warps_x * C::warp_x, plan.warps_y * C::warp_y};
    cut.steps = tiles(p.k, whole_depth(p.k));
    return {plan.time_s, cut};
  }
};

// What CTAs take of a tile's k on average are its slices; so many of each tile where a second
// launch adds them up.
template <class C>
Cut cut_of_even_shares(const EvenShares& s) {
  Cut cut = cut_of<C>(true);
  cut.slices = std::max(1, s.ctas / s.tiles);
  cut.steps = s.most_rounds();
  cut.partly = s.parted;
  return cut;
}

template <class Form>
Cut cut_of_low_shares(const Problem& given, const EvenShares& s) {
  Cut cut = cut_of_even_shares<typename Form::Tile>(s);
  if (Form::is_turned(given)) std::swap(cut.rows, cut.columns);
  return cut;
}

// row_07's tile. A caller that asks for a plan knows no leading dimensions, so lines are as in
// memory without gaps.
inline Cut cut_by_parity(const Problem& p, const runtime::Machine& machine) {
  Cut cut;
  const bool aligned = has_whole_lines(p.m, p.n, p.k, p.trans_a, p.trans_b) && p.n % 4 == 0;
  with_parity_config(p.m, p.n, p.k, aligned, machine, [&]<ParityConfig config>() {
    cut = {config.rows, config.columns, 1, tiles(p.k, config.depth)};
  });
  return cut;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
