#pragma once
// The kernel and the launch of row_33_low_tiles.

#include <bit>

#include "ops/sgemm/low_tiles.hpp"
#include "ops/sgemm/rung_packed.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Stores a thread's sums to a C whose rows are the product's columns.
template <class C>
__device__ WARPLADDER_INLINE_ON_GPU void store_turned(
    const ProductPart& part, ParityPlace at,
    const float (&sum)[C::thread_rows][C::thread_columns]) {
  const Gemm& g = part.gemm;
  WARPLADDER_UNROLL_ON_GPU
  for (int j = 0; j < C::thread_columns; ++j) {
    const std::int64_t column = part.column + at.column + j % 4 + j / 4 * kNextColumns<C>;
    if (column >= g.n) break;
    WARPLADDER_UNROLL_ON_GPU
    for (int i = 0; i < C::thread_rows; i += 4) {
      const std::int64_t row = part.row + at.row + i / 4 * kNextRows<C>;
      const float four[4] = {sum[i][j], sum[i + 1][j], sum[i + 2][j], sum[i + 3][j]};
      float* const c = &g.c[column * g.ldc + row];
      if (part.vectors) {
        parts::store4<4>(c, g.m - row, g.alpha, four, g.beta);
      } else {
        parts::store4<1>(c, g.m - row, g.alpha, four, g.beta);
      }
    }
  }
}

// A is the smaller operand, by fours across k; its stage has room for so many lines that threads
// share the copies evenly. B comes as it lies.
template <class C, bool kAlong, class CopyB>
struct LowOperands : EvenOperands<C, false, !kAlong,
                                  RingCopy<static_cast<int>(std::bit_ceil(unsigned{C::rows})),
                                           C::depth, C::threads, false, 4>,
                                  CopyB> {
  __device__ __forceinline__ static void store(const EvenGemm& e, const ProductPart& part,
                                               ParityPlace at, const ParitySums<C>& sums,
                                               float* staging) {
    if (e.turned) {
      store_turned<C>(part, at, sums.sum);
    } else {
      store_part<C, parts::AsItIs>(part, at, sums.sum, staging);
    }
  }
};

// `p`: the product as it is launched, whose A is the smaller operand of `given`. Words is how B
// comes where it does not come by fours.
template <class C, template <int, int, int, bool, int> class Words>
void launch_low_tiles(const Gemm& given, const Problem& p, const EvenShares& s, bool turned,
                      runtime::StreamView& stream) {
  Gemm g = given;
  if (turned) {
    std::swap(g.m, g.n);
    std::swap(g.a, g.b);
    std::swap(g.lda, g.ldb);
  }
  auto* room = static_cast<float*>(g.workspace);
  const Packing smaller = packing_of(g.a, g.lda, g.m, g.k, !p.trans_a, room);
  if (smaller.to) g.a = smaller.to, g.lda = smaller.ld_to;
  EvenGemm e = even_gemm<C>(g, s, room);
  e.turned = turned;
  e.lines_a = line_of_slice(g.m);
  const bool behind_pass = launch_pass(smaller, {}, stream);
  const auto with = [&]<bool kAlong, template <int, int, int, bool, int> class Copy, int kOfB>() {
    using CopyB = Copy<C::columns, C::depth, C::threads, kAlong, kOfB>;
    launch_even_tiles<LowOperands<C, kAlong, CopyB>>(e, s, behind_pass, stream);
  };
  if (p.trans_b) {
    with.template operator()<true, Words, 1>();
  } else if (comes_by_fours(g.b, g.ldb, g.n, 0, {})) {
    with.template operator()<false, RingCopy, 4>();
  } else {
    with.template operator()<false, Words, 1>();
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
