#pragma once
// Products by FP32 multiply-adds in an order that spares the register banks
// (row_07_register_parity): of all of k, or of a slice of it.

#include "ops/sgemm/parity_batches.hpp"
#include "ops/sgemm/product_slices.hpp"
#include "ops/sgemm/rung_parity_kernel.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// Of a product in tiles of C, of which the part `sliced` is in one or more slices.
template <class C>
ladder::Totals predict_by_parity(const Problem& p, const Problem& sliced, std::uint64_t slices) {
  const std::uint64_t warps = p.m * p.n / 64 / 32, of_slice = sliced.m * sliced.n / 64 / 32,
                      k_tiles = warps * (p.k / C::depth),
                      of_a = C::rows * C::depth / C::threads / 4,  // float4 of a thread
      of_b = C::columns * C::depth / C::threads / 4;
  ladder::Totals t;
  t.global_load_requests = (of_a + of_b) * k_tiles;
  t.global_load_sectors = 16 * t.global_load_requests;
  t.shared_store_requests = (4 * of_a + of_b) * k_tiles;
  // Lanes that share a line of A are four steps of k apart.
  constexpr bool kPadded = parity_stride<C>(C::rows, true) > C::rows;
  constexpr std::uint64_t kMeet = C::depth / (kPadded ? 8 : 4);  // of them, on a bank
  t.shared_store_wavefronts = (4 * kMeet * of_a + 4 * of_b) * k_tiles;
  t.shared_load_requests = (2 + 2) * warps * p.k;
  t.shared_load_wavefronts = (2 * 2 + 2 * 2) * warps * p.k;
  t.barriers = k_tiles;
  t.global_store_requests = 16 * (warps - of_slice + of_slice * slices);
  t.global_store_sectors = 16 * t.global_store_requests;
  predict_join(t, sliced, slices);
  t.fmas = p.m * p.n * p.k;
  return t;
}
template <class C>
ladder::Totals predict_by_parity(const Problem& p, std::uint64_t slices) {
  return predict_by_parity<C>(p, p, slices);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
