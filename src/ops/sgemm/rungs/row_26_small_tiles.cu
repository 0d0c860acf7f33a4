// Bound before: the way to the first multiply-add, and from the last one. A product of 600×600×80
// is over in 8 µs, of which multiply-adds take one. row_13's lanes find their lines by many
// instructions, row_24's threads hold the next tile of k in registers, and either has few warps.
//
// Idea: tiles as small as 16×32 and 32×16, of which a thread has 4×4, so that even a small C has
// CTAs for all multiprocessors. Warps of a CTA take other steps of k, and add up their sums in the
// end. A thread sums each 8 of k apart: short sums lose less (DECISIONS 110). Three steps of k are
// under way at once, in a ring of asynchronous copies. Copies of words turn what lies along k, and
// need no alignment. What lies across k is copied by fours where its own lines allow. A model of
// the time chooses among six tiles, and slices of k (ops/sgemm/ring_slices.hpp). The host divides
// (parts/shares.hpp): no CTA does.
//
// Prediction: 600×600×80 in 6 µs, where row_13 takes 8. Measured on an H200: 660×636×79 (NT) in
// 7.4 µs, where row_13 takes 10.2, row_24 13.0 and cuBLAS 8.5.
// Accepts: every problem, batches in strides or in arrays of pointers.
// What binds it: latencies; of larger products shared memory, which gives a lane of 4×4 two words
// for each four multiply-adds.

#include "ops/sgemm/rung_ring.hpp"

namespace warpladder::sgemm {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  with_batch(call, [&](const Gemm& g, const Batch& batch, bool trans_a, bool trans_b) {
    const ThreadedShape shape = ring_shape(g.m, g.n, g.k, trans_a, trans_b, batch.count);
    with_ring_tile(shape, *stream.machine, [&]<class C>(const Slices& slices) {
      launch_batch_slices<C>(g, batch, trans_a, trans_b, slices, stream,
                             [&]<bool kARows, bool kBRows, int>() {
                               return ring_kernel<C, kARows, kBRows>(g, batch);
                             });
    });
  });
}

bool takes(const Call& call) { return fits_ring(call.problem.m, call.problem.n, call.batch.count); }

ThreadedShape shape_of(const Problem& p, std::int64_t count) {
  return ring_shape(p.m, p.n, p.k, p.trans_a, p.trans_b, count);
}

std::size_t workspace(const Call& given, const runtime::Machine& machine) {
  const Call call = in_layout(given, Layout::row_major);
  const Problem& p = call.problem;
  return with_ring_tile(shape_of(p, call.batch.count), machine, [&]<class C>(const Slices& slices) {
    return bytes_of_batch_slices(slices, p, call.batch.count);
  });
}

// A is copied word by word, eight words of four lines at once, and B by fours.
template <class C>
ladder::Totals predict_in_ring(const Problem& p, std::uint64_t slices) {
  constexpr std::uint64_t kWarps = C::threads / 32, kSums = C::thread_rows * C::thread_columns,
                          kOfA = C::rows * C::depth / 32, kOfB = C::columns * C::depth / 128;
  const std::uint64_t tiles_of_c = p.m * p.n / (C::rows * C::columns), ctas = tiles_of_c * slices,
                      steps = tiles_of_c * (p.k / C::depth);
  ladder::Totals t;
  t.global_load_requests = steps * (kOfA + kOfB);
  t.global_load_sectors = steps * (4 * kOfA + 16 * kOfB);
  t.shared_store_requests = steps * (kOfA + kOfB);
  t.shared_store_wavefronts = steps * (kOfA + 4 * kOfB);
  t.shared_load_requests =
      steps * C::depth * (kWarps / C::groups) * ((C::thread_rows + C::thread_columns) / 4);
  t.shared_load_wavefronts = 2 * t.shared_load_requests;
  t.barriers = steps * kWarps;
  if (C::groups > 1) {
    const std::uint64_t sums = ctas * kSums * (kWarps - kWarps / C::groups);
    t.shared_store_requests += sums;
    t.shared_store_wavefronts += sums;
    t.shared_load_requests += sums;
    t.shared_load_wavefronts += sums;
    t.barriers += 2 * ctas * kWarps;
  }
  t.global_store_requests = p.m * p.n / 128 * slices;
  t.global_store_sectors = 16 * t.global_store_requests;
  predict_join(t, p, slices);
  t.fmas = p.m * p.n * p.k;
  return t;
}

// Of one product.
ladder::Totals predict(const Problem& p, const runtime::Machine& machine) {
  return with_ring_tile(shape_of(p, 1), machine, [&]<class C>(const Slices& slices) {
    return predict_in_ring<C>(p, static_cast<std::uint64_t>(slices.count));
  });
}

}  // namespace

WARPLADDER_RUNG(row_26_small_tiles) = {.idea = "small tiles, their warps share k, copies under way",
                                       .accepts = "every problem, and batches",
                                       .launch = launch,
                                       .predict = predict_in<Layout::row_major, predict>,
                                       .takes = takes,
                                       .workspace_bytes = workspace,
                                       .needs = {.capability = 80}};

}  // namespace warpladder::sgemm
