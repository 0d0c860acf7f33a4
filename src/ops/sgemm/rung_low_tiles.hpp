#pragma once
// The kernel and the launch of row_33_low_tiles.

#include <bit>

#include "ops/sgemm/low_tiles.hpp"
#include "ops/sgemm/rung_packed.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// How an operand's lines come: by fours, or word by word, which may be by way of registers.
// SpreadCopy asks between the steps. RingCopy asks where not every thread has fours to copy, or
// where lines lie far apart.
template <class C, int kLines, bool kAlong, int kWidth, bool kHeld, bool kFar>
using LowCopy = std::conditional_t<
    kFar || (kWidth == 4 && C::threads * 4 / kLines > C::depth),
    RingCopy<kLines, C::depth, C::threads, kAlong, kWidth>,
    std::conditional_t<kHeld && kWidth == 1, HeldCopy<kLines, C::depth, C::threads, kAlong>,
                       SpreadCopy<kLines, C::depth, C::threads, kAlong, kWidth>>>;

// kAWidth, kBWidth: words that are copied at once. Of A's lines so many are copied that threads
// share the copies evenly. Where words of an operand lie across k, all words come by way of
// registers; two operands along k are faster without.
template <class C, bool kAAlong, int kAWidth, bool kBAlong, int kBWidth, bool kFar,
          bool kHeld = (!kAAlong && kAWidth == 1) || (!kBAlong && kBWidth == 1)>
struct LowOperands : EvenOperands<C, kAAlong, !kBAlong,
                                  LowCopy<C, static_cast<int>(std::bit_ceil(unsigned{C::rows})),
                                          kAAlong, kAWidth, kHeld, kFar>,
                                  LowCopy<C, C::columns, kBAlong, kBWidth, kHeld, kFar>> {
  static constexpr bool joins = !kFar;
  __device__ __forceinline__ static void store(const EvenGemm& e, const ProductPart& part,
                                               ParityPlace at, const ParitySums<C>& sums,
                                               float* staging) {
    if (e.turned) {
      store_part<C, parts::AsItIs, true>(part, at, sums.sum, staging);
    } else {
      store_part<C, parts::AsItIs>(part, at, sums.sum, staging);
    }
  }
};

// A product as it is multiplied: `turned`, the transpose of C.
inline Gemm as_multiplied(Gemm g, bool turned) {
  if (turned) {
    std::swap(g.m, g.n);
    std::swap(g.a, g.b);
    std::swap(g.lda, g.ldb);
  }
  return g;
}

// Calls run.template operator()<LowOperands>() for what `g` allows, whose transposes are p's.
// Form::packs: A lies across k in fours. kFar: lines lie so far apart that distances take 64 bits,
// and come word by word.
template <class Form, bool kFar, class Run>
void with_low_operands(const Gemm& g, const Problem& p, const Batch& batch, const Run& run) {
  constexpr int kMost = kFar ? 1 : 4;
  const bool a_fours = !kFar && comes_by_fours(g.a, g.lda, g.m, batch.stride_a, batch),
             b_fours = !kFar && comes_by_fours(g.b, g.ldb, g.n, batch.stride_b, batch);
  const auto with_a = [&]<bool kAAlong, int kAWidth>() {
    const auto with = [&]<bool kBAlong, int kBWidth>() {
      run.template
      operator()<LowOperands<typename Form::Tile, kAAlong, kAWidth, kBAlong, kBWidth, kFar>>();
    };
    if (p.trans_b) {
      with.template operator()<true, 1>();
    } else if (b_fours) {
      with.template operator()<false, kMost>();
    } else {
      with.template operator()<false, 1>();
    }
  };
  if constexpr (Form::packs) {
    with_a.template operator()<false, kMost>();
  } else if (!p.trans_a) {
    with_a.template operator()<true, 1>();
  } else if (a_fours) {
    with_a.template operator()<false, kMost>();
  } else {
    with_a.template operator()<false, 1>();
  }
}

// `p`: the product as it is launched, whose A is the smaller operand of `given`.
template <class Form, bool kFar>
void launch_low_tiles(const Gemm& given, const Problem& p, const EvenShares& s, bool turned,
                      runtime::StreamView& stream) {
  using C = typename Form::Tile;
  Gemm g = as_multiplied(given, turned);
  auto* room = static_cast<float*>(g.workspace);
  Packing smaller{};
  if constexpr (Form::packs) smaller = packing_of(g.a, g.lda, g.m, g.k, !p.trans_a, room);
  if (smaller.to) g.a = smaller.to, g.lda = smaller.ld_to;
  EvenGemm e = even_gemm<C>(g, s, room);
  e.turned = turned;
  if (smaller.to) e.lines_a = line_of_slice(g.m);
  const bool behind_pass = launch_pass(smaller, {}, stream);
  with_low_operands<Form, kFar>(
      g, p, {}, [&]<class Operands>() { launch_even_tiles<Operands>(e, s, behind_pass, stream); });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
