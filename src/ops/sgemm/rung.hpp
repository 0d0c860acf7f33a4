#pragma once
// What every sgemm rung includes, beside parts/. Tensor-core rungs also include headers of tensor/.

#include "ladder/rung.hpp"
#include "ops/sgemm/gemm_tile.hpp"
#include "ops/sgemm/problem.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// One block per tile of C, in one dimension: y and z end at 65,535 blocks, which a tall C passes.
inline dim3 tile_grid(std::int64_t tiles_m, std::int64_t tiles_n) {
  return dim3(static_cast<unsigned>(tiles_m * tiles_n));
}
// Whether each of so many tiles of each product gets a CTA of its own: x of the grid ends behind
// INT32_MAX.
inline bool fits_grid(std::int64_t tiles_of_c, std::int64_t products) {
  return tiles_of_c <= INT32_MAX / (products > 1 ? products : 1);
}

// Calls run.template operator()<A by rows, B by rows>() for the operands' transposes in row-major
// storage; a column-major rung passes !trans_a and !trans_b.
template <class Run>
void for_transposes(bool trans_a, bool trans_b, const Run& run) {
  if (trans_a) {
    trans_b ? run.template operator()<false, false>() : run.template operator()<false, true>();
  } else {
    trans_b ? run.template operator()<true, false>() : run.template operator()<true, true>();
  }
}

// As for_transposes(), with the widest access to A, B and C that the problem allows. That is 4
// elements, if addresses, leading dimensions and the length of A's and B's lines in memory are
// multiples of 4, else 1.
template <class Run>
void for_layouts(const Gemm& g, bool trans_a, bool trans_b, const Run& run) {
  for_transposes(trans_a, trans_b, [&]<bool kARows, bool kBRows>() {
    const auto address = reinterpret_cast<std::uintptr_t>(g.a) |
                         reinterpret_cast<std::uintptr_t>(g.b) |
                         reinterpret_cast<std::uintptr_t>(g.c);
    const std::int64_t lines = (kARows ? g.k : g.m) | (kBRows ? g.n : g.k);
    const bool vectors = address % 16 == 0 && (lines | g.lda | g.ldb | g.ldc) % 4 == 0;
    vectors ? run.template operator()<kARows, kBRows, 4>()
            : run.template operator()<kARows, kBRows, 1>();
  });
}

// What a rung's launch and prediction are made from: functions of the product in the rung's own
// layout. A prediction counts for a compact product without transposes, whose sizes are multiples
// of the rung's tile, with beta = 0.
using LaunchRung = void (*)(const Gemm& gemm, bool trans_a, bool trans_b,
                            runtime::StreamView& stream);

inline Gemm gemm_of(const Call& call) {
  const Problem& p = call.problem;
  return {p.m,
          p.n,
          p.k,
          p.alpha,
          p.beta,
          call.a,
          p.lda,
          call.b,
          p.ldb,
          call.c,
          p.ldc,
          call.workspace,
          call.source ? call.source : call.c,
          call.source ? call.ld_source : p.ldc};
}
template <Layout layout, LaunchRung launch>
void launch_in(const Call& given, runtime::StreamView& stream) {
  const Call call = in_layout(given, layout);
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0) return;
  Gemm g = gemm_of(call);
  if (p.alpha == 0.0f) g.k = 0;
  for (std::int64_t i = 0; i < call.batch.count; ++i) {
    launch(g, p.trans_a, p.trans_b, stream);
    g.a += call.batch.stride_a;
    g.b += call.batch.stride_b;
    g.c += call.batch.stride_c;
    g.source += call.batch.stride_c;
  }
}
template <Layout layout, auto predict>
ladder::Totals predict_in(const Call& call, const runtime::Machine& machine) {
  return ladder::predicted<predict>(in_layout(call, layout).problem, machine);
}

// Counts of single loads, stores and shuffles that are not predicted.
inline ladder::Totals no_predicted_accesses() {
  ladder::Totals t;
  t.global_load_requests = t.global_load_sectors = ladder::kNotPredicted;
  t.global_store_requests = t.global_store_sectors = ladder::kNotPredicted;
  t.shared_load_requests = t.shared_load_wavefronts = ladder::kNotPredicted;
  t.shared_store_requests = t.shared_store_wavefronts = ladder::kNotPredicted;
  t.shuffles = ladder::kNotPredicted;
  return t;
}

// For predict_in(), of a rung whose loads and stores depend on more than a number can say.
inline ladder::Totals predict_multiply_adds(const Problem& p) {
  ladder::Totals t;
  t.global_load_requests = t.global_load_sectors = ladder::kNotPredicted;
  t.global_store_requests = t.global_store_sectors = ladder::kNotPredicted;
  t.fmas = p.m * p.n * p.k;
  return t;
}

// For a host function, which the plain flavour alone launches.
template <Layout layout, LaunchRung launch>
constexpr auto launch_on_host =
    runtime::kThisFlavour == runtime::Flavour::plain ? &launch_in<layout, launch> : nullptr;

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
