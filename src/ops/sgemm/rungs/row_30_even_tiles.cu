// Bound before: waves, and loads. Of 110 tiles of 128×128 row_20 parts either none or all. Its
// threads hold the next tile of k in registers, on its way to shared memory. At 4096×4096×4096 a
// tenth of row_07's issue slots is no multiply-add, and an eighth is empty.
//
// Idea: CTAs stay, two on a multiprocessor, and each has an even share of all tiles' rounds along
// k. The CTA that ends a tile adds what others have of it to its own sums, which are still in
// registers. That saves a second launch, and half of the traffic. Only where a tile has many
// parts, as of a long k, a second launch is faster. CTAs then store slices of C, and row_13's join
// adds them up. Asynchronous copies leave registers for 16×8 sums a thread, which take a quarter
// fewer loads from shared memory for a multiply-add. Copies lie between the steps: in a row, each
// waits for the one before it. The last step of a round is multiplied while the next round's first
// loads are under way.
//
// Prediction: 210 µs at 1338×1188×2858 (NT), as cuBLAS takes, and 2.65 ms at 4096×4096×4096.
// Measured on an H200: 220 µs, where row_20 takes 252 and cuBLAS 215; and 2.66 ms, row_20 2.71,
// cuBLAS 2.69. And 379 µs at 1131×2008×4000 (TN), cuBLAS 403.
// Accepts: every problem.
// What binds it: the multiply-adds; of operands that come word by word their copies.

#include "ops/sgemm/rung_even_tiles.hpp"

namespace warpladder::sgemm {
namespace {

// How both operands are copied.
template <bool kARows, bool kBRows, template <int, int, int, bool, int> class Copy, int kOfA,
          int kOfB>
using Operands =
    EvenOperands<EvenTile, kARows, kBRows,
                 Copy<EvenTile::rows, EvenTile::depth, EvenTile::threads, kARows, kOfA>,
                 Copy<EvenTile::columns, EvenTile::depth, EvenTile::threads, !kBRows, kOfB>>;

template <bool kARows, bool kBRows>
void launch_product(const EvenGemm& e, const EvenShares& s, runtime::StreamView& stream) {
  const auto with = [&]<template <int, int, int, bool, int> class Copy, int kOfA, int kOfB>() {
    launch_even_tiles<Operands<kARows, kBRows, Copy, kOfA, kOfB>>(e, s, false, stream);
  };
  const Gemm& g = e.gemm;
  constexpr int kMostOfA = kARows ? 1 : 4, kMostOfB = kBRows ? 4 : 1;
  if (std::max(g.lda, g.ldb) > kMostSpreadLd<EvenTile>)
    return with.template operator()<RingCopy, 1, 1>();
  const bool a = !kARows && comes_by_fours(g.a, g.lda, g.m, 0, {}),
             b = kBRows && comes_by_fours(g.b, g.ldb, g.n, 0, {});
  if (a && b) {
    with.template operator()<SpreadCopy, kMostOfA, kMostOfB>();
  } else if (a) {
    with.template operator()<SpreadCopy, kMostOfA, 1>();
  } else if (b) {
    with.template operator()<SpreadCopy, 1, kMostOfB>();
  } else {
    with.template operator()<SpreadCopy, 1, 1>();
  }
}

EvenShares shares_of(const Problem& p, const runtime::Machine& machine) {
  return even_shares(p, copies_as_they_are(p), machine);
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const EvenShares s = shares_of(problem_of(g, trans_a, trans_b), *stream.machine);
  const EvenGemm e = even_gemm<EvenTile>(g, s, g.workspace);
  for_transposes(trans_a, trans_b,
                 [&]<bool kARows, bool kBRows>() { launch_product<kARows, kBRows>(e, s, stream); });
}

std::size_t workspace(const Call& call, const runtime::Machine& machine) {
  const Problem p = in_layout(call.problem, Layout::row_major);
  return bytes_of_even_shares<EvenTile>(p, shares_of(p, machine));
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return predict_even_tiles<EvenTile>(p, shares_of(p, machine));
}

}  // namespace

WARPLADDER_RUNG(row_30_even_tiles) = {.idea = "even shares of large tiles, 16×8 sums a thread",
                                      .accepts = "every problem",
                                      .launch = launch_in<Layout::row_major, launch>,
                                      .predict = predict_in<Layout::row_major, predict>,
                                      .takes = takes_even,
                                      .workspace_bytes = workspace,
                                      .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
