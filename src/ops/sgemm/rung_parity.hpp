#pragma once
// Products by FP32 multiply-adds in an order that spares the register banks
// (row_07_register_parity): of all of k, or of a slice of it.

#include "ops/sgemm/parity_batches.hpp"
#include "ops/sgemm/rung_batch_slices.hpp"
#include "ops/sgemm/rung_parity_kernel.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// All groups but one lay down their sums, and the first one reads them; `warps` of all first
// groups.
template <class C>
void predict_join_of_groups(ladder::Totals& t, std::uint64_t warps) {
  constexpr std::uint64_t kSums = C::thread_rows * C::thread_columns, kOthers = C::groups - 1,
                          kAtOnce = sums_at_once<C>(floats_of_groups<C, true, true>());
  const std::uint64_t requests = warps * kOthers * kSums;
  t.shared_store_requests += requests;
  t.shared_store_wavefronts += requests;
  t.shared_load_requests += requests;
  t.shared_load_wavefronts += requests;
  t.barriers += 2 * (kSums / kAtOnce) * C::groups * warps;
}

// Of a product in tiles of C, of which the part `sliced` is in one or more slices.
template <class C>
ladder::Totals predict_by_parity(const Problem& p, const Problem& sliced, std::uint64_t slices) {
  constexpr std::uint64_t kSums = C::thread_rows * C::thread_columns,
                          kLoads = C::thread_rows / 4 + C::thread_columns / 4;
  const std::uint64_t warps = p.m * p.n / kSums / 32, of_slice = sliced.m * sliced.n / kSums / 32,
                      k_tiles = warps * (p.k / C::depth),
                      of_a = C::rows * C::depth / C::group_threads / 4,  // float4 of a thread
      of_b = C::columns * C::depth / C::group_threads / 4;
  ladder::Totals t;
  t.global_load_requests = (of_a + of_b) * k_tiles;
  t.global_load_sectors = 16 * t.global_load_requests;
  t.shared_store_requests = (4 * of_a + of_b) * k_tiles;
  // Lanes that share a line of A are four steps of k apart.
  constexpr bool kPadded = parity_stride<C>(C::rows, true) > C::rows;
  constexpr std::uint64_t kMeet = C::depth / (kPadded ? 8 : 4);  // of them, on a bank
  t.shared_store_wavefronts = (4 * kMeet * of_a + 4 * of_b) * k_tiles;
  t.shared_load_requests = kLoads * warps * p.k;
  t.shared_load_wavefronts = 2 * kLoads * warps * p.k;
  constexpr bool kAlone = C::groups > 1 && C::group_threads == 32;  // a warp with its own tiles
  t.barriers = kAlone ? 0 : k_tiles;
  t.global_store_requests = kSums / 4 * (warps - of_slice + of_slice * slices);
  t.global_store_sectors = 16 * t.global_store_requests;
  predict_join(t, sliced, slices);
  if constexpr (C::groups > 1) predict_join_of_groups<C>(t, warps - of_slice + of_slice * slices);
  t.fmas = p.m * p.n * p.k;
  return t;
}
template <class C>
ladder::Totals predict_by_parity(const Problem& p, std::uint64_t slices) {
  return predict_by_parity<C>(p, p, slices);
}

// The rungs of batches, in the fastest of `Tiles`, which are AmongTiles.
template <class Tiles>
struct BatchesByParity {
  static void launch(const Call& call, runtime::StreamView& stream) {
    with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
      const ParityBatch shape = parity_batch(g.m, g.n, g.k, trans_a, trans_b, batch.count);
      Tiles::with(shape, *stream.machine, [&]<class C>(const Slices& slices) {
        launch_batch_slices<C>(g, batch, trans_a, trans_b, slices, stream,
                               [&]<bool kARows, bool kBRows, int kVector>() {
                                 return multiply_by_parity<C, kARows, kBRows, kVector, BatchSlices>;
                               });
      });
    });
  }

  static bool takes(const Call& call) {
    return Tiles::fit(call.problem.m, call.problem.n, call.batch.count);
  }

  static std::size_t workspace_bytes(const Call& given, const runtime::Machine& machine) {
    const Call call = in_layout(given, Layout::row_major);
    const Problem& p = call.problem;
    return Tiles::with(shape_of(p, call.batch.count), machine, [&]<class C>(const Slices& slices) {
      return bytes_of_batch_slices(slices, p, call.batch.count);
    });
  }

  // Of one product.
  static ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
    return Tiles::with(shape_of(p, 1), machine, [&]<class C>(const Slices& slices) {
      return predict_by_parity<C>(p, static_cast<std::uint64_t>(slices.count));
    });
  }

 private:
  static ParityBatch shape_of(const Problem& p, std::int64_t count) {
    return parity_batch(p.m, p.n, p.k, p.trans_a, p.trans_b, count);
  }
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
