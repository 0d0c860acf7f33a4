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

// `count` entries from `first` on, kItems·kThreads at most, on their way to a block: thread t holds
// t, t + kThreads and so on. By words: neighbouring lanes then ask x for the columns of
// neighbouring entries, which more often share sectors than those of every fourth; and any
// alignment will do.
template <int kThreads, int kItems>
struct HeldEntries {
  float value[kItems];
  int column[kItems];

  template <class Offset>
  __device__ __forceinline__ void load(const Csr<Offset>& m, Offset first, int count) {
    const std::uint64_t policy = ptx::evict_first();  // they are read once, x again and again
    const float* const values = m.values + first + threadIdx.x;
    const int* const columns = m.column_indices + first + threadIdx.x;
    WARPLADDER_UNROLL
    for (int u = 0; u < kItems; ++u) {
      const bool there = static_cast<int>(threadIdx.x) + u * kThreads < count;
      value[u] = there ? ptx::load_with(policy, values + u * kThreads) : 0.0f;
      column[u] = there ? ptx::load_with(policy, columns + u * kThreads) : 0;
    }
  }

  // Leaves values[e] · x[column_indices[e]] of the entries from `from` to `to` in shared memory, in
  // their places. A barrier must follow.
  __device__ __forceinline__ void multiply(const float* x, int from, int to,
                                           float* products) const {
    WARPLADDER_UNROLL
    for (int u = 0; u < kItems; ++u) {
      const int i = static_cast<int>(threadIdx.x) + u * kThreads;
      if (i >= from && i < to) products[i] = value[u] * __ldg(x + column[u]);
    }
  }
};

// ---- segments of those products

struct Segment {
  int from, to;
};

// How many lanes share a segment of so many products: up to about twelve for each of them.
__device__ __forceinline__ int lanes_log2_for(int products, int segments) {
  int log2 = 0;
  while (log2 < 5 && products > (12 * segments << log2)) ++log2;
  return log2;
}

// visit(s, sum) by one thread for each of the segments. segment(s) says which products it has; that
// of s = threadIdx.x >> lanes_log2 the caller has asked for already. Called by every thread. Lanes
// share segments as lanes_log2 says; the whole warp takes those that are much longer.
template <int kThreads, class SegmentOf, class Visit>
__device__ __forceinline__ void sum_segments(const float* products, int segments, int lanes_log2,
                                             Segment own, const SegmentOf& segment,
                                             const Visit& visit) {
  const int lanes = 1 << lanes_log2, lane = threadIdx.x & 31, step = kThreads >> lanes_log2,
            first_of_warp = (threadIdx.x & ~31u) >> lanes_log2;
  const bool is_first = (lane & (lanes - 1)) == 0;
  int s = threadIdx.x >> lanes_log2;
  WARPLADDER_NO_UNROLL
  for (int base = 0; base + first_of_warp < segments; base += step, s += step) {
    const Segment next = s + step < segments ? segment(s + step) : Segment{0, 0};
    const bool is_long = own.to - own.from > 16 << lanes_log2;
    float sum = 0.0f;
    if (!is_long) {
      WARPLADDER_NO_UNROLL
      for (int i = own.from + (lane & (lanes - 1)); i < own.to; i += lanes) sum += products[i];
    }
    WARPLADDER_NO_UNROLL
    for (int bits = lanes / 2; bits > 0; bits /= 2) sum += warp::exchange(sum, bits);
    unsigned left = __ballot_sync(warp::kAllLanes, is_long && is_first);
    while (left) {
      const int source = __ffs(static_cast<int>(left)) - 1;
      left &= left - 1;
      const int from = __shfl_sync(warp::kAllLanes, own.from, source),
                to = __shfl_sync(warp::kAllLanes, own.to, source);
      float part = 0.0f;
      for (int i = from + lane; i < to; i += 32) part += products[i];
      part = warp::reduce(part, warp::Sum());
      if (lane == source) sum = part;
    }
    if (s < segments && is_first) visit(s, sum);
    own = next;
  }
}

// ---- pieces of equal work

// The first i below `size` of which is_before(i) is false; it is true up to there. 32 places are
// looked at together: at first 1, 2, 4, … to either side of `guess`, which for rows of much the
// same length leaves little; then evenly, so that a million take four rounds. Called by a whole
// warp.
template <class IsBefore>
__device__ __forceinline__ std::int64_t first_not(std::int64_t size, std::int64_t guess,
                                                  const IsBefore& is_before) {
  const int lane = threadIdx.x % 32;
  std::int64_t low = 0;  // the answer is between low and low + size
  {
    const std::int64_t i =
        guess + (lane < 16 ? -(std::int64_t{1} << (15 - lane)) : std::int64_t{1} << (lane - 16));
    const bool before = i < 0 || (i < size && is_before(i));
    const int passed = __popc(__ballot_sync(warp::kAllLanes, before));
    const std::int64_t last = __shfl_sync(warp::kAllLanes, i, passed > 0 ? passed - 1 : 0),
                       next = __shfl_sync(warp::kAllLanes, i, passed < 32 ? passed : 31);
    if (passed > 0 && last >= 0) low = last + 1;
    size = (passed < 32 && next < size ? next : size) - low;
  }
  while (size > 0) {
    const std::int64_t step = size / 33 + 1, i = low + (lane + 1) * step - 1;
    const bool before = i < low + size && is_before(i);
    const int passed = __popc(__ballot_sync(warp::kAllLanes, before));
    low += passed * step;
    size = passed < 32 && size - passed * step > step - 1 ? step - 1 : size - passed * step;
  }
  return low;
}

// How many rows end before item `item` of the merge of rows and entries, an entry before the end of
// its row. Called by a whole warp.
template <class Offset>
__device__ __forceinline__ std::int64_t rows_before(const Csr<Offset>& m, std::int64_t item) {
  const auto share = static_cast<float>(item) / static_cast<float>(m.rows + m.nnz);
  return first_not(m.rows, static_cast<std::int64_t>(share * static_cast<float>(m.rows)),
                   [&](std::int64_t i) { return __ldg(m.row_offsets + i + 1) + i < item; });
}

// What a block adds to a row that began in tiles before: theirs, in the order of the tiles. Called
// by a whole warp.
__device__ __forceinline__ float take_parts(std::uint64_t* flags, std::int64_t first_tile,
                                            std::int64_t tile) {
  const int lane = threadIdx.x % 32;
  const float taken =
      take_sum<4>(flags + first_tile, 1, lane, 32, static_cast<int>(tile - first_tile));
  return warp::reduce(taken, warp::Sum());
}

// ---- tiles of kOwn entries each (ops/spmv/problem.hpp)

// The first row that begins at entry tile·kOwn or behind it, and where it begins. A tile has the
// rows that begin in it, with what they have in the next one, if that is up to kMore entries; of a
// longer row, which is ~row here, each tile has a part.
template <class Offset>
struct alignas(2 * sizeof(Offset)) TileStart {
  Offset row, entry;
  __device__ __forceinline__ bool cuts() const { return row < 0; }  // the row before
  __device__ __forceinline__ Offset first_row() const { return cuts() ? ~row : row; }
};

// Called by a whole warp.
template <int kOwn, int kMore, class Offset>
__device__ __forceinline__ TileStart<Offset> tile_start(const Csr<Offset>& m, std::int64_t tile) {
  const std::int64_t at = tile * kOwn;
  if (at >= m.nnz) return {static_cast<Offset>(m.rows), static_cast<Offset>(m.nnz)};
  const auto share = static_cast<float>(at) / static_cast<float>(m.nnz);
  const auto row = static_cast<Offset>(
      first_not(m.rows, static_cast<std::int64_t>(share * static_cast<float>(m.rows)),
                [&](std::int64_t i) { return __ldg(m.row_offsets + i) < at; }));
  const Offset entry = __ldg(m.row_offsets + row);
  if (entry == at) return {row, entry};
  const Offset begun = __ldg(m.row_offsets + row - 1);
  const bool cut = entry > begun / kOwn * kOwn + kOwn + kMore;
  return {static_cast<Offset>(cut ? ~row : row), entry};
}

// The rows of tile `tile`, whose entries are held, between two starts. `products` has room for
// kOwn + kMore. Called by every thread.
template <int kThreads, int kOwn, int kMore, class Held, class Offset>
__device__ __forceinline__ void multiply_tile(const Csr<Offset>& m, std::int64_t tile,
                                              const Held& held, const TileStart<Offset>& from,
                                              const TileStart<Offset>& to, std::uint64_t* flags,
                                              float* products) {
  const auto first = static_cast<Offset>(tile * kOwn);
  const Offset row0 = from.first_row();
  const int rows = static_cast<int>(to.first_row() - row0), t = threadIdx.x,
            begin = static_cast<int>(from.entry - first),  // of the first row that begins here
      end = to.cuts() ? kOwn : static_cast<int>(to.entry - first);
  const int lanes_log2 = lanes_log2_for(kOwn, rows + 1);
  const auto segment = [&](int s) -> Segment {
    const Offset* at = m.row_offsets + row0 + s;
    const auto row_end = static_cast<int>(__ldg(at + 1) - first);
    return {static_cast<int>(__ldg(at) - first), row_end < end ? row_end : end};
  };
  const int s = t >> lanes_log2;
  const Segment own = s < rows ? segment(s) : Segment{0, 0};  // while entries and x come
  held.multiply(m.x, from.cuts() ? 0 : begin, end, products);
  __syncthreads();  // the products are there before they are added up
  sum_segments<kThreads>(products, rows, lanes_log2, own, segment, [&](int row, float sum) {
    if (to.cuts() && row == rows - 1) {
      flags[tile] = to_word(sum);
    } else {
      store_row(m, row0 + row, sum);
    }
  });
  if (!from.cuts() || t < kThreads - 32) return;
  // The last warp adds up what there is of the row that began before.
  const int lane = t % 32, behind = begin < kOwn ? begin : kOwn;
  float sum = 0.0f;
  for (int i = lane; i < behind; i += 32) sum += products[i];
  sum = warp::reduce(sum, warp::Sum());
  if (begin > kOwn) {
    if (lane == 0) flags[tile] = to_word(sum);
    return;
  }
  sum += take_parts(flags, __ldg(m.row_offsets + row0 - 1) / kOwn, tile);
  if (lane == 0) store_row(m, row0 - 1, sum);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
