#pragma once
// Products for multiply_by_parity() that are compiled at run time. They have sizes, leading
// dimensions and the kinds of alpha and beta as constants, or an epilogue that somebody wrote.

#include "ops/sgemm/rung_parity_kernel.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

enum class Factor { zero, one, any };

template <std::int64_t kM, std::int64_t kN, std::int64_t kK, std::int64_t kLda, std::int64_t kLdb,
          std::int64_t kLdc, Factor kAlpha, Factor kBeta>
struct ConstantProduct {
  ProductData data;
};

template <class C, bool kARows, bool kBRows, int kVector, std::int64_t kM, std::int64_t kN,
          std::int64_t kK, std::int64_t kLda, std::int64_t kLdb, std::int64_t kLdc, Factor kAlpha,
          Factor kBeta>
__device__ __forceinline__ ProductPart
part_of_block(const ConstantProduct<kM, kN, kK, kLda, kLdb, kLdc, kAlpha, kBeta>& p) {
  const float alpha = kAlpha == Factor::any ? p.data.alpha : 1.0f,
              beta = kBeta == Factor::any   ? p.data.beta
                     : kBeta == Factor::one ? 1.0f
                                            : 0.0f;
  const Gemm g{kM, kN, kK, alpha, beta, p.data.a, kLda, p.data.b, kLdb, p.data.c, kLdc, nullptr};
  const auto [row, column] = tile_of_block<C::rows, C::columns>(g);
  return {g, row, column, kVector == 4};
}

// A product whose elements pass through `Finish_` on their way to memory.
template <class Finish_>
struct FinishedProduct {
  using Finish = Finish_;
  Gemm gemm;
};
template <class C, bool kARows, bool kBRows, int kVector, class Finish>
__device__ __forceinline__ ProductPart part_of_block(const FinishedProduct<Finish>& p) {
  return part_of_block<C, kARows, kBRows, kVector>(p.gemm);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
