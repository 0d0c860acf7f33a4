#pragma once
// The second kernel of a product whose k is split: it adds up the slices' sums, which lie in the
// workspace, and stores C.

#include <algorithm>

#include "ops/sgemm/rung.hpp"
#include "parts/ptx/dependent_launch.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// A slice's sums are a C of their own: rows of `columns` elements, which begin `line` apart.
struct Join {
  const float* partial;
  std::int64_t elements, line, columns;  // elements: of a slice, gaps between rows included
  int slices;
  float alpha, beta;
  float* c;
  std::int64_t ldc;
};
// Threads of a CTA, and of those that share an element of many slices.
constexpr int kJoinThreads = 256, kMostJoiners = 8, kManySlices = 16;

// The product as its slices have it: the first one's C is the workspace, of rows `line` apart.
inline Gemm gemm_of_slices(Gemm g, std::int64_t line) {
  g.c = static_cast<float*>(g.workspace);
  g.ldc = line;
  g.alpha = 1;
  g.beta = 0;
  return g;
}

// Adds in `Sum`, in an order that depends on the number of slices alone. For each element of C,
// kJoiners threads take a share of the slices each. right(sum, row, column) is stored.
template <class Sum, int kJoiners, class Right>
__device__ __forceinline__ void add_slices(const Join& j, const Right& right) {
  constexpr int kElements = kJoinThreads / kJoiners;
  __shared__ Sum share[kJoiners][kElements];
  const int at = threadIdx.x % kElements, joiner = threadIdx.x / kElements;
  const std::int64_t e = std::int64_t{blockIdx.x} * kElements + at, row = e / j.line,
                     column = e % j.line;
  const bool exists = e < j.elements && column < j.columns;
  const float* const from = j.partial + (exists ? e : 0);  // nothing was written between rows
  ptx::wait_for_previous_kernel();                         // its sums are there
  Sum sum = 0;
  WARPLADDER_UNROLL_BY(8)
  for (int slice = joiner; slice < j.slices; slice += kJoiners) sum += from[slice * j.elements];
  if constexpr (kJoiners > 1) {
    share[joiner][at] = sum;
    __syncthreads();  // all shares are there
    if (joiner > 0) return;
    WARPLADDER_UNROLL
    for (int other = 1; other < kJoiners; ++other) sum += share[other][at];
  }
  if (exists) {
    float& c = j.c[row * j.ldc + column];
    const Sum alpha = j.alpha, beta = j.beta;
    sum = right(sum, row, column);
    c = static_cast<float>(j.beta == 0.0f ? alpha * sum : alpha * sum + beta * c);
  }
}

template <class Sum, int kJoiners>
__device__ __forceinline__ void add_slices(const Join& j) {
  add_slices<Sum, kJoiners>(j, [](Sum sum, std::int64_t, std::int64_t) { return sum; });
}

template <class Sum, int kJoiners>
static __global__ void __launch_bounds__(kJoinThreads) join_slices(Join j) {
  add_slices<Sum, kJoiners>(j);
}

inline Join join_of(const Gemm& g, int slices, std::int64_t line) {
  return {static_cast<const float*>(g.workspace),
          g.m * line,
          line,
          g.n,
          slices,
          g.alpha,
          g.beta,
          g.c,
          g.ldc};
}
inline std::int64_t blocks_of_join(std::int64_t elements, std::int64_t slices) {
  return tiles(elements, slices > kManySlices ? kJoinThreads / kMostJoiners : kJoinThreads);
}
// launch.operator()<kJoiners>(shape) launches the join of so many products, which lie along y of
// the grid.
template <class Launch>
void with_join_shape(const Join& join, std::int64_t products, const Launch& launch) {
  const std::int64_t blocks = blocks_of_join(join.elements, join.slices);
  runtime::LaunchShape shape{dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(products)),
                             dim3(kJoinThreads)};
  shape.overlaps_previous = true;
  join.slices > kManySlices ? launch.template operator()<kMostJoiners>(shape)
                            : launch.template operator()<1>(shape);
}
template <class Sum>
static inline void launch_join(const Gemm& g, int slices, std::int64_t line,
                               runtime::StreamView& stream) {
  const Join join = join_of(g, slices, line);
  with_join_shape(join, 1, [&]<int kJoiners>(const runtime::LaunchShape& shape) {
    runtime::launch(stream, shape, join_slices<Sum, kJoiners>, join);
  });
}

// Of all warps. `elements`: of a slice.
inline std::uint64_t barriers_of_join(std::int64_t elements, std::int64_t slices) {
  if (slices <= kManySlices) return 0;
  return static_cast<std::uint64_t>(blocks_of_join(elements, slices)) * kJoinThreads / 32;
}
// What the join adds to a prediction, of rows that are whole warps wide.
inline void predict_join(ladder::Totals& t, const Problem& p, std::uint64_t slices) {
  if (slices == 1) return;
  const std::uint64_t warps = p.m * p.n / 32;  // of the threads that store C
  t.global_load_requests += warps * slices;
  t.global_load_sectors += 4 * warps * slices;
  t.global_store_requests += warps;
  t.global_store_sectors += 4 * warps;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
