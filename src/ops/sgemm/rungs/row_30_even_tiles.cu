// Bound before: waves, and loads. Of 110 tiles of 128×128 row_20 parts either none or all, and its
// threads hold the next tile of k in registers, on its way to shared memory. At 4096×4096×4096 a
// tenth of row_07's issue slots is no multiply-add, and an eighth is empty.
//
// Idea: CTAs stay, two on a multiprocessor, and each has an even share of all tiles' rounds along
// k. Who ends a tile adds what others have of it to its own sums, which are still in registers: no
// second launch, and half of the traffic. Asynchronous copies leave registers for 16×8 sums a
// thread, which take a quarter fewer loads from shared memory for a multiply-add. Words are copied
// one by one between the steps: in a row, each waits for the one before it. The last step of a
// round is multiplied while the next round's first loads are under way.
//
// Prediction: 210 µs at 1338×1188×2858 (NT), as cuBLAS takes, and 2.65 ms at 4096×4096×4096.
// Measured on an H200: 220 µs, where row_20 takes 252 and cuBLAS 215; 2.66 ms, row_20 2.71, cuBLAS
// 2.69; and 379 µs at 1131×2008×4000 (TN), cuBLAS 403.
// Accepts: every problem.
// What binds it: the multiply-adds; of operands that come word by word their copies.

#include "ops/sgemm/rung_even_tiles.hpp"

namespace warpladder::sgemm {
namespace {

__global__ void __launch_bounds__(kJoinThreads) clear_parts(unsigned* parts, int count) {
  ptx::allow_next_kernel();  // which waits for this one's end, but for its own launch
  clear_counts<kJoinThreads>(parts, count);
}

template <bool kARows, bool kBRows>
auto kernel_for(const Gemm& g) {
  constexpr int kMostOfA = kARows ? 1 : 4, kMostOfB = kBRows ? 4 : 1;
  constexpr Copying kFours = kMostOfA + kMostOfB == 8 ? Copying::at_once : Copying::spread;
  constexpr std::int64_t kMostLd =
      SpreadCopy<EvenTile::rows, EvenTile::depth, EvenTile::threads, true, 1>::most_ld;
  if (std::max(g.lda, g.ldb) > kMostLd) {
    return multiply_even_tiles<Copying::at_once, kARows, kBRows, 1, 1>;
  }
  const bool a = !kARows && comes_by_fours(g.a, g.lda, g.m, 0, {}),
             b = kBRows && comes_by_fours(g.b, g.ldb, g.n, 0, {});
  return a && b ? multiply_even_tiles<kFours, kARows, kBRows, kMostOfA, kMostOfB>
         : a    ? multiply_even_tiles<Copying::spread, kARows, kBRows, kMostOfA, 1>
         : b    ? multiply_even_tiles<Copying::spread, kARows, kBRows, 1, kMostOfB>
                : multiply_even_tiles<Copying::spread, kARows, kBRows, 1, 1>;
}

EvenShares shares_of(const Problem& p, const runtime::Machine& machine) {
  return even_shares(p, copies_as_they_are(p), machine);
}

void launch(const Gemm& g, bool trans_a, bool trans_b, runtime::StreamView& stream) {
  const EvenShares s = shares_of(problem_of(g, trans_a, trans_b), *stream.machine);
  const EvenGemm e = even_gemm(g, s, g.workspace);
  if (s.parted) {
    runtime::launch(stream, {dim3(1), dim3(kJoinThreads)}, clear_parts, e.parts, s.ctas);
  }
  for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
    launch_even_tiles(e, s, s.parted, kernel_for<kARows, kBRows>(g), stream);
  });
}

std::size_t workspace(const Call& call, const runtime::Machine& machine) {
  return bytes_of_even_shares(shares_of(in_layout(call.problem, Layout::row_major), machine));
}

ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return predict_even_tiles(shares_of(p, machine));
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
