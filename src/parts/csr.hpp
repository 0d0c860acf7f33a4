#pragma once
// A sparse product as kernels see it, and what blocks do with pieces of it.

#include <type_traits>

#include "device/kernel.hpp"
#include "parts/flag_finish.hpp"
#include "parts/ptx/cache_policy.hpp"
#include "parts/warp.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// y = alpha · A · x + beta · y. Offset: std::int32_t or std::int64_t.
template <class Offset>
struct Csr {
  std::int64_t rows, nnz;
  const Offset* row_offsets;
  const std::int32_t* column_indices;
  const float* values;
  const float* x;
  float* y;
  float alpha, beta;
};

// Row i of y after the product: beta == 0 must not read it.
template <class Offset>
__device__ __forceinline__ void store_row(const Csr<Offset>& m, std::int64_t i, float sum) {
  m.y[i] = m.beta == 0.0f ? m.alpha * sum : m.alpha * sum + m.beta * m.y[i];
}

// ---- a piece of the entries, as products in shared memory

// Four neighbouring entries from `at` on, of which those outside the matrix are taken as zeros.
struct FourEntries {
  float4 values;
  int4 columns;
};
template <class Offset>
__device__ __forceinline__ FourEntries load_four(const Csr<Offset>& m, std::int64_t at,
                                                 bool by_vectors, std::uint64_t policy) {
  if (by_vectors && at >= 0 && at + 4 <= m.nnz) {
    return {ptx::load_with(policy, reinterpret_cast<const float4*>(m.values + at)),
            ptx::load_with(policy, reinterpret_cast<const int4*>(m.column_indices + at))};
  }
  float v[4] = {};
  int c[4] = {};
  WARPLADDER_UNROLL
  for (int i = 0; i < 4; ++i) {
    if (at + i < 0 || at + i >= m.nnz) continue;
    v[i] = m.values[at + i];
    c[i] = m.column_indices[at + i];
  }
  return {make_float4(v[0], v[1], v[2], v[3]), make_int4(c[0], c[1], c[2], c[3])};
}

// Room for `count` products, and what alignment may add to them.
constexpr int staged_size(int count) { return (count + 3 + 3) / 4 * 4; }

// `count` entries from `first` on, kFours·4·kThreads - 3 at most, on their way to a block: each
// thread holds fours of neighbours. Values and columns are read by vectors, which begin on 16
// bytes, so that the first entry stands at `shift`; where the two are aligned unlike, by words.
template <int kThreads, int kFours>
struct HeldEntries {
  FourEntries four[kFours];
  int shift, count;

  template <class Offset>
  __device__ __forceinline__ void load(const Csr<Offset>& m, std::int64_t first, int entries) {
    const auto off = [](const void* p) {
      return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) / 4 % 4);
    };
    const bool by_vectors = off(m.values + first) == off(m.column_indices + first);
    shift = by_vectors ? off(m.values + first) : 0;
    count = entries;
    const std::uint64_t policy = ptx::evict_first();
    WARPLADDER_UNROLL
    for (int u = 0; u < kFours; ++u) {
      const int i = 4 * (static_cast<int>(threadIdx.x) + u * kThreads);
      four[u] = {};
      if (i < shift + count) four[u] = load_four(m, first - shift + i, by_vectors, policy);
    }
  }

  // Leaves values[e] · x[column_indices[e]] of them in shared memory, aligned to 16 bytes, the
  // first at products[shift]. A barrier must follow.
  __device__ __forceinline__ void multiply(const float* x, float* products) const {
    WARPLADDER_UNROLL
    for (int u = 0; u < kFours; ++u) {
      const int i = 4 * (static_cast<int>(threadIdx.x) + u * kThreads);
      if (i >= shift + count) continue;
      const auto& [v, c] = four[u];
      *reinterpret_cast<float4*>(products + i) = make_float4(
          v.x * __ldg(x + c.x), v.y * __ldg(x + c.y), v.z * __ldg(x + c.z), v.w * __ldg(x + c.w));
    }
  }
};

// Both in one. Returns where the first product is. Called by every thread; a barrier must follow.
template <int kThreads, int kFours, class Offset>
__device__ __forceinline__ int stage_products(const Csr<Offset>& m, std::int64_t first, int count,
                                              float* products) {
  HeldEntries<kThreads, kFours> held;
  held.load(m, first, count);
  held.multiply(m.x, products);
  return held.shift;
}

// ---- segments of those products

// How many lanes share a segment of so many products: up to about twelve for each of them.
__device__ __forceinline__ int lanes_log2_for(int products, int segments) {
  int log2 = 0;
  while (log2 < 5 && products > (12 * segments << log2)) ++log2;
  return log2;
}

// visit(s, sum) by one thread for each segment of the products, of which s ends before ends[s], and
// the first begins at `begin`. Called by every thread. Lanes share segments as lanes_log2 says; the
// whole warp takes those that are much longer than the others.
template <int kThreads, class Visit>
__device__ __forceinline__ void sum_segments(const float* products, const int* ends, int begin,
                                             int segments, int lanes_log2, const Visit& visit) {
  const int lanes = 1 << lanes_log2, lane = threadIdx.x & 31, first = threadIdx.x >> lanes_log2,
            first_of_warp = (threadIdx.x & ~31u) >> lanes_log2;
  WARPLADDER_NO_UNROLL
  for (int base = 0; base + first_of_warp < segments; base += kThreads >> lanes_log2) {
    const int s = base + first;
    const bool there = s < segments;
    const int from = there ? (s > 0 ? ends[s - 1] : begin) : 0, to = there ? ends[s] : 0;
    const bool is_long = to - from > 16 << lanes_log2, is_first = (lane & (lanes - 1)) == 0;
    float sum = 0.0f;
    if (!is_long) {
      WARPLADDER_NO_UNROLL
      for (int i = from + (lane & (lanes - 1)); i < to; i += lanes) sum += products[i];
    }
    WARPLADDER_NO_UNROLL
    for (int bits = lanes / 2; bits > 0; bits /= 2) sum += warp::exchange(sum, bits);
    unsigned left = __ballot_sync(warp::kAllLanes, is_long && is_first);
    while (left) {
      const int source = __ffs(static_cast<int>(left)) - 1;
      left &= left - 1;
      const int long_from = __shfl_sync(warp::kAllLanes, from, source),
                long_to = __shfl_sync(warp::kAllLanes, to, source);
      float part = 0.0f;
      for (int i = long_from + lane; i < long_to; i += 32) part += products[i];
      part = warp::reduce(part, warp::Sum());
      if (lane == source) sum = part;
    }
    if (there && is_first) visit(s, sum);
  }
}

// ---- merge tiles (ops/spmv/problem.hpp)

// How many rows end before item `item` of the merge of rows and entries. Called by a whole warp:
// 32 places are looked at together, so that a million rows take four rounds.
template <class Offset>
__device__ __forceinline__ std::int64_t rows_before(const Csr<Offset>& m, std::int64_t item) {
  const int lane = threadIdx.x % 32;
  std::int64_t low = 0, size = m.rows;  // the answer is between low and low + size
  while (size > 0) {
    const std::int64_t step = size / 33 + 1, row = low + (lane + 1) * step - 1;
    const bool before = row < low + size && __ldg(m.row_offsets + row + 1) + row < item;
    const int passed = __popc(__ballot_sync(warp::kAllLanes, before));
    low += passed * step;
    size = passed < 32 && size - passed * step > step - 1 ? step - 1 : size - passed * step;
  }
  return low;
}

// Words of shared memory for a tile: products in front, the ends of its rows behind them.
constexpr int tile_words(int items) { return items + 8; }

// The products of tile `tile` of kItems items, and the rows that end in it: row0 to row1. What is
// left for a row that goes on is published, and taken by the tile in which the row ends, in the
// order of the tiles. Called by every thread.
template <int kThreads, int kItems, class Offset>
__device__ __forceinline__ void multiply_tile(const Csr<Offset>& m, std::int64_t tile,
                                              std::int64_t row0, std::int64_t row1,
                                              std::uint64_t* flags, float* words) {
  constexpr int kFours = (kItems + 3 + 4 * kThreads - 1) / (4 * kThreads);
  const std::int64_t all = m.rows + m.nnz, item0 = tile * kItems,
                     item1 = item0 + kItems < all ? item0 + kItems : all;
  const std::int64_t entry0 = item0 - row0;
  const int rows = static_cast<int>(row1 - row0), t = threadIdx.x,
            entries = static_cast<int>(item1 - item0) - rows;
  int* const ends = reinterpret_cast<int*>(words + staged_size(entries));
  const int begin = stage_products<kThreads, kFours>(m, entry0, entries, words);
  for (int i = t; i < rows; i += kThreads) {
    ends[i] = begin + static_cast<int>(__ldg(m.row_offsets + row0 + 1 + i) - entry0);
  }
  if (t == 0) ends[rows] = begin + entries;
  __syncthreads();  // products and ends are there before they are read
  const bool goes_on = rows == 0 || ends[rows - 1] < begin + entries;
  float first = 0.0f;
  sum_segments<kThreads>(words, ends, begin, rows + goes_on, lanes_log2_for(entries, rows + 1),
                         [&](int s, float sum) {
                           if (s == rows) {
                             flags[tile] = to_word(sum);
                           } else if (s == 0) {
                             first = sum;  // which thread 0 has
                           } else {
                             store_row(m, row0 + s, sum);
                           }
                         });
  if (t >= 32 || rows == 0) return;
  // The first row may have begun some tiles before.
  const std::int64_t begun = __ldg(m.row_offsets + row0);
  if (begun < entry0) {
    const std::int64_t tile0 = (row0 + begun) / kItems;
    const float taken = take_sum<4>(flags + tile0, 1, t, 32, static_cast<int>(tile - tile0));
    first += warp::reduce(taken, warp::Sum());
  }
  if (t == 0) store_row(m, row0, first);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
