#pragma once
// A sparse product as kernels see it, and what blocks do with pieces of it.

#include <type_traits>

#include "parts/flag_finish.hpp"
#include "parts/ptx/cache_policy.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

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

// Where a row begins and ends, as asked for.
template <class Offset>
struct RowEntries {
  Offset begin, end;
};
template <class Offset>
__device__ __forceinline__ RowEntries<Offset> ask_row(const Csr<Offset>& m, Offset row) {
  const Offset* const at = m.row_offsets + row;
  return {__ldg(at), __ldg(at + 1)};
}

// ---- a piece of the entries, as products in shared memory

// `count` entries from `first` on, kItems·kThreads at most, on their way to a block: thread t holds
// t, t + kThreads and so on. By words: neighbouring lanes then ask x for the columns of
// neighbouring entries. These share sectors more often than those of every fourth. And any
// alignment will do.
template <int kThreads, int kItems>
struct HeldEntries {
  float value[kItems];
  int column[kItems];

  template <class Offset>
  __device__ __forceinline__ void load(const Csr<Offset>& m, Offset first, int count) {
    const std::uint64_t policy = ptx::evict_first();  // they are read once, x again and again
    const int t = static_cast<int>(threadIdx.x);
    const float* const values = m.values + first + t;
    const int* const columns = m.column_indices + first + t;
    if (count == kThreads * kItems) {  // as nearly always, and then nobody has to ask
      WARPLADDER_UNROLL
      for (int u = 0; u < kItems; ++u) {
        value[u] = ptx::load_with(policy, values + u * kThreads);
        column[u] = ptx::load_with(policy, columns + u * kThreads);
      }
    } else {
      WARPLADDER_UNROLL
      for (int u = 0; u < kItems; ++u) {
        const bool there = t + u * kThreads < count;
        value[u] = there ? ptx::load_with(policy, values + u * kThreads) : 0.0f;
        column[u] = there ? ptx::load_with(policy, columns + u * kThreads) : 0;
      }
    }
  }

  // Leaves values[e] · x[column_indices[e]] of the entries from `from` to `to` in shared memory, in
  // their places. A barrier must follow.
  __device__ __forceinline__ void multiply(const float* x, int from, int to,
                                           float* products) const {
    const int t = static_cast<int>(threadIdx.x);
    if (from < kThreads && to > (kItems - 1) * kThreads) {
      float of_x[kItems];
      WARPLADDER_UNROLL
      for (int u = 0; u < kItems; ++u) {
        const bool there = (u > 0 || t >= from) && (u < kItems - 1 || t + u * kThreads < to);
        of_x[u] = there ? __ldg(x + column[u]) : 0.0f;
      }
      WARPLADDER_UNROLL
      for (int u = 0; u < kItems; ++u) products[t + u * kThreads] = value[u] * of_x[u];
    } else {
      WARPLADDER_UNROLL
      for (int u = 0; u < kItems; ++u) {
        const int i = t + u * kThreads;
        if (i >= from && i < to) products[i] = value[u] * __ldg(x + column[u]);
      }
    }
  }
};

// ---- segments of those products

struct Segment {
  int from, to;
};

// Products of a lane from which on a segment is long.
constexpr int kLongSegment = 64;

// How many lanes share a segment of so many products, as a power of two: up to about twelve
// products for each of them.
__device__ __forceinline__ int lanes_log2_for(int products, int segments) {
  const int log2 = __clz(12 * segments) - __clz(products > 2 ? products - 1 : 1) + 1;
  return log2 < 0 ? 0 : log2 > 5 ? 5 : log2;
}

// The sum of products i, i + step, … below `to`, in this order. Four are asked for at once.
template <int step, class Products>
__device__ __forceinline__ float sum_every(const Products& products, int i, int to) {
  float sum = 0.0f;
  WARPLADDER_NO_UNROLL
  for (; i + 3 * step < to; i += 4 * step) {
    const float four[] = {products[i], products[i + step], products[i + 2 * step],
                          products[i + 3 * step]};
    WARPLADDER_UNROLL
    for (const float product : four) sum += product;
  }
  WARPLADDER_NO_UNROLL
  for (; i < to; i += step) sum += products[i];
  return sum;
}

// The sum of a segment, in the first of the 2^lanes_log2 lanes that share it; the whole warp takes
// those that are much longer. Products: float*, or what gives floats by index. Called by whole
// warps.
template <class Products>
__device__ __forceinline__ float sum_segment(const Products& products, const Segment& own, int lane,
                                             int lanes_log2) {
  const int lanes = 1 << lanes_log2, member = lane & (lanes - 1);
  const bool is_long = own.to - own.from > kLongSegment << lanes_log2;
  // Neighbours for each lane: segments begin anywhere modulo 32, and so do their parts, in other
  // banks than each other's.
  const int length = is_long ? 0 : own.to - own.from,
            from = own.from + (length * member >> lanes_log2),
            to = own.from + (length * (member + 1) >> lanes_log2);
  float sum = sum_every<1>(products, from, to);
  WARPLADDER_NO_UNROLL
  for (int bits = 1; bits < lanes; bits *= 2) sum += warp::exchange(sum, bits);
  unsigned long_ones = __ballot_sync(warp::kAllLanes, is_long && member == 0);
  while (long_ones) {
    const int source = __ffs(static_cast<int>(long_ones)) - 1;
    long_ones &= long_ones - 1;
    const int from = __shfl_sync(warp::kAllLanes, own.from, source),
              to = __shfl_sync(warp::kAllLanes, own.to, source);
    const float whole = warp::reduce(sum_every<32>(products, from + lane, to), warp::Sum());
    if (lane == source) sum = whole;
  }
  return sum;
}

// visit(s, sum) by one thread for each of the segments. Where one lies is asked for in two steps,
// so that nobody waits before it must: ask(s) loads something, segment() makes a Segment of it.
// What a thread asks at once the caller has asked for already (ask_first). Called by threads t = 0
// to kThreads - 1, whole warps. Lanes share segments as lanes_log2 says.
template <int kThreads, int kAtOnce, class Asked, class Ask, class SegmentOf, class Visit>
__device__ __forceinline__ void sum_segments(int t, const float* products, int segments,
                                             int lanes_log2, Asked (&asked)[kAtOnce],
                                             const Ask& ask, const SegmentOf& segment,
                                             const Visit& visit) {
  const int lane = t & 31, member = lane & ((1 << lanes_log2) - 1), step = kThreads >> lanes_log2,
            first_of_warp = (t & ~31) >> lanes_log2;
  int s = t >> lanes_log2;
  WARPLADDER_NO_UNROLL
  for (int left = segments - first_of_warp; left > 0; left -= kAtOnce * step, s += kAtOnce * step) {
    Segment own[kAtOnce];
    WARPLADDER_UNROLL
    for (int u = 0; u < kAtOnce; ++u) {
      own[u] = s + u * step < segments ? segment(asked[u]) : Segment{0, 0};
    }
    WARPLADDER_UNROLL
    for (int u = 0; u < kAtOnce; ++u) {
      const int ahead = (kAtOnce + u) * step;
      if (left > ahead && s + ahead < segments) asked[u] = ask(s + ahead);
    }
    WARPLADDER_UNROLL
    for (int u = 0; u < kAtOnce; ++u) {
      if (u > 0 && left <= u * step) break;
      const int at = s + u * step;
      const float sum = sum_segment(products, own[u], lane, lanes_log2);
      if (at < segments && member == 0) visit(at, sum);
    }
  }
}

// What sum_segments() expects to have been asked for.
template <int kThreads, int kAtOnce, class Asked, class Ask>
__device__ __forceinline__ void ask_first(int t, int segments, int lanes_log2,
                                          Asked (&asked)[kAtOnce], const Ask& ask) {
  WARPLADDER_UNROLL
  for (int u = 0; u < kAtOnce; ++u) {
    const int s = (t + u * kThreads) >> lanes_log2;
    asked[u] = s < segments ? ask(s) : Asked{};
  }
}

// ---- pieces of equal work

// Where a sequence that grows passes a value. index is the first place with `at` ≥ the value, and
// `before` is what stands at the place before it.
template <class Index>
struct Crossing {
  Index index, before, at;
};

// That of value_at(low + 1) … value_at(high), of which low's (below the target) and high's (not
// below it) are known. 32 places are looked at together: the 16 around where the target would be if
// the sequence grew evenly, and some farther off. For rows of much the same length that is all. In
// every third round the places lie evenly, so that whatever the rows, few rounds do. Called by a
// whole warp.
template <class Index, class ValueAt>
__device__ __forceinline__ Crossing<Index> crossing(Index low, Index before, Index high, Index at,
                                                    Index target, const ValueAt& value_at) {
  const int lane = threadIdx.x % 32;
  const int off = lane < 8 ? -(8 << 2 * (8 - lane)) : lane < 24 ? lane - 16 : 8 << 2 * (lane - 23);
  WARPLADDER_NO_UNROLL
  for (int round = 0; high - low > 1; ++round) {
    const std::int64_t from = low, far = high - low;  // high may be the greatest Index there is
    std::int64_t wanted = from + (lane + 1) * ((far + 32) / 33);
    if (round % 3 != 2) {
      const float share = static_cast<float>(target - before) / static_cast<float>(at - before);
      wanted = from + static_cast<std::int64_t>(share * static_cast<float>(far)) + off;
    }
    const auto place = static_cast<Index>(wanted < from ? from : wanted > high ? high : wanted);
    const Index value = place == low ? before : place == high ? at : value_at(place);
    const int passed = __popc(__ballot_sync(warp::kAllLanes, value < target));
    const int last = passed > 0 ? passed - 1 : 0, next = passed < 32 ? passed : 31;
    const Index last_place = __shfl_sync(warp::kAllLanes, place, last),
                last_value = __shfl_sync(warp::kAllLanes, value, last),
                next_place = __shfl_sync(warp::kAllLanes, place, next),
                next_value = __shfl_sync(warp::kAllLanes, value, next);
    if (passed > 0) low = last_place, before = last_value;
    if (passed < 32) high = next_place, at = next_value;
  }
  return {high, before, at};
}

// How many rows end before item `item` of the merge of rows and entries, an entry before the end of
// its row. Called by a whole warp.
template <class Offset>
__device__ __forceinline__ std::int64_t rows_before(const Csr<Offset>& m, std::int64_t item) {
  const std::int64_t all = m.rows + m.nnz;
  return crossing<std::int64_t>(
             -1, -1, m.rows, all, item,
             [&](std::int64_t i) -> std::int64_t { return __ldg(m.row_offsets + i + 1) + i; })
      .index;
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

// ---- tiles of own() entries each (Tile of ops/spmv/problem.hpp)

// The first row that begins at entry tile·own() or behind it, and where it begins. A tile has the
// rows that begin in it, with what they have in the next one, if that is up to kMore entries. Of a
// longer row, which is ~row here, each tile has a part.
template <class Offset>
struct alignas(2 * sizeof(Offset)) TileStart {
  Offset row, entry;
  __device__ __forceinline__ bool cuts() const { return row < 0; }  // the row before
  __device__ __forceinline__ Offset first_row() const { return cuts() ? ~row : row; }
};

// Where row `index` begins, at `at`, is behind the beginning of a tile, and the row before began
// before that.
template <class Tile, class Offset>
__device__ __forceinline__ TileStart<Offset> start_within(const Tile& shape,
                                                          const Crossing<Offset>& found,
                                                          std::int64_t at) {
  const std::int64_t own = shape.own();
  const bool cut = found.at > at && found.at > found.before / own * own + own + Tile::kMore;
  return {cut ? ~found.index : found.index, found.at};
}

// The starts of all tiles, and the end: by search, a warp for each.
template <class Tile, class Offset>
__device__ __forceinline__ void search_starts(const Tile& shape, const Csr<Offset>& m,
                                              TileStart<Offset>* starts, std::int64_t count) {
  const std::int64_t tile = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32,
                     at = tile * shape.own();
  if (tile >= count) return;
  TileStart<Offset> start = {0, 0};
  if (at >= m.nnz) {
    start = {static_cast<Offset>(m.rows), static_cast<Offset>(m.nnz)};
  } else if (at > 0) {
    start = start_within(shape,
                         crossing<Offset>(0, 0, static_cast<Offset>(m.rows),
                                          static_cast<Offset>(m.nnz), static_cast<Offset>(at),
                                          [&](Offset i) { return __ldg(m.row_offsets + i); }),
                         at);
  }
  if (threadIdx.x % 32 == 0) starts[tile] = start;
}

// The same by a look at every row, kRowsOfThread to a thread: one load after another, of which none
// has to wait. The thread that sees a tile begin writes its start. A warp shares the tiles of a row
// that goes through many.
constexpr int kRowsOfThread = 4;
template <class Tile, class Offset>
__device__ __forceinline__ void collect_starts(const Tile& shape, const Csr<Offset>& m,
                                               TileStart<Offset>* starts, std::int64_t count) {
  const std::int64_t row0 = std::int64_t{blockIdx.x} * blockDim.x * kRowsOfThread + threadIdx.x;
  if (row0 == 0) {
    starts[0] = {0, 0};
    starts[count - 1] = {static_cast<Offset>(m.rows), static_cast<Offset>(m.nnz)};
  }
  RowEntries<Offset> asked[kRowsOfThread];
  WARPLADDER_UNROLL
  for (int u = 0; u < kRowsOfThread; ++u) {
    const std::int64_t row = row0 + u * blockDim.x;
    asked[u] = row < m.rows ? ask_row(m, static_cast<Offset>(row)) : RowEntries<Offset>{};
  }
  WARPLADDER_UNROLL
  for (int u = 0; u < kRowsOfThread; ++u) {
    // Those of tiles that begin behind `begin`, and not behind `end`; the last is the end's own.
    const auto [begin, end] = asked[u];
    std::int64_t tile = begin / shape.own() + 1, last = end / shape.own();
    if (last > count - 2) last = count - 2;
    const Crossing<Offset> found{static_cast<Offset>(row0 + u * blockDim.x + 1), begin, end};
    constexpr int kMany = 4;
    unsigned long_ones = __ballot_sync(warp::kAllLanes, last - tile >= kMany);
    if (last - tile < kMany) {
      WARPLADDER_NO_UNROLL
      for (; tile <= last; ++tile) {
        starts[tile] = start_within(shape, found, tile * shape.own());
      }
    }
    WARPLADDER_NO_UNROLL
    while (long_ones) {
      const int source = __ffs(static_cast<int>(long_ones)) - 1;
      long_ones &= long_ones - 1;
      const auto of_source = [&](auto value) {
        return __shfl_sync(warp::kAllLanes, value, source);
      };
      const Crossing<Offset> its{of_source(found.index), of_source(found.before),
                                 of_source(found.at)};
      const std::int64_t its_last = of_source(last);
      WARPLADDER_NO_UNROLL
      for (std::int64_t i = of_source(tile) + threadIdx.x % 32; i <= its_last; i += 32) {
        starts[i] = start_within(shape, its, i * shape.own());
      }
    }
  }
}

// The entries of a tile, from its first on, that belong to its rows, and to the one before if that
// is cut.
template <class Offset>
__device__ __forceinline__ int tile_begin(const TileStart<Offset>& from, Offset first) {
  return from.cuts() ? 0 : static_cast<int>(from.entry - first);
}
template <class Offset>
__device__ __forceinline__ int tile_end(const TileStart<Offset>& to, Offset first, int own) {
  return to.cuts() ? own : static_cast<int>(to.entry - first);
}

// The rows of a tile, as threads t = 0 to kThreads - 1 add them up.
template <int kThreads, class Offset>
struct TileRows {
  int t;
  Offset first;  // entry of the tile
  int own;       // entries
  TileStart<Offset> from, to;
  Offset row0;
  int rows, lanes_log2;

  __device__ __forceinline__ TileRows(int t, Offset first, int own, const TileStart<Offset>& from,
                                      const TileStart<Offset>& to)
      : t(t),
        first(first),
        own(own),
        from(from),
        to(to),
        row0(from.first_row()),
        rows(static_cast<int>(to.first_row() - row0)),
        lanes_log2(lanes_log2_for(own, rows + 1)) {}

  // Asks where the rows lie that a thread adds up first.
  template <int kAtOnce>
  __device__ __forceinline__ void ask(const Csr<Offset>& m,
                                      RowEntries<Offset> (&asked)[kAtOnce]) const {
    ask_first<kThreads>(t, rows, lanes_log2, asked,
                        [&](int row) { return ask_row(m, static_cast<Offset>(row0 + row)); });
  }

  // Adds them up, the tile's products being in shared memory. Of a cut row that begins in the tile,
  // hand_on(sum) gets what the tile has, by one thread. Of the one that began before,
  // take_over(sum, goes_on) gets what the tile has, by the last warp, and whether it goes on behind
  // the tile.
  template <int kAtOnce, class HandOn, class TakeOver>
  __device__ __forceinline__ void sum(const Csr<Offset>& m, const float* products,
                                      RowEntries<Offset> (&asked)[kAtOnce], const HandOn& hand_on,
                                      const TakeOver& take_over) const {
    const int last = tile_end(to, first, own);
    sum_segments<kThreads>(
        t, products, rows, lanes_log2, asked,
        [&](int row) { return ask_row(m, static_cast<Offset>(row0 + row)); },
        [&](const RowEntries<Offset>& row) -> Segment {
          const auto row_end = static_cast<int>(row.end - first);
          return {static_cast<int>(row.begin - first), row_end < last ? row_end : last};
        },
        [&](int row, float sum) {
          if (to.cuts() && row == rows - 1) {
            hand_on(sum);
          } else {
            store_row(m, row0 + row, sum);
          }
        });
    if (!from.cuts() || t < kThreads - 32) return;
    const auto next = static_cast<int>(from.entry - first);  // where the first row begins
    const int behind = next < own ? next : own;
    take_over(warp::reduce(sum_every<32>(products, t % 32, behind), warp::Sum()), next > own);
  }
};

// The product of tile blockIdx.x, whose rows lie between two of the `starts`. ready() is called
// before they are read; where that may be waited for, the tile's entries are under way by then.
// Called by every thread.
template <class Tile, class Offset, class Ready>
__device__ __forceinline__ void multiply_tile(const Csr<Offset>& m, std::uint64_t* flags,
                                              const TileStart<Offset>* starts, float* products,
                                              bool may_wait, const Ready& ready) {
  constexpr int kOwn = Tile::kOwn, kAll = Tile::kAll;
  const std::int64_t tile = blockIdx.x, first = tile * kOwn;
  TileStart<Offset> from, to;
  const auto read_starts = [&] {
    ready();
    from = starts[tile], to = starts[tile + 1];
  };
  if (!may_wait) read_starts();
  HeldEntries<Tile::kThreads, Tile::kItems> held;
  held.load(m, static_cast<Offset>(first),
            static_cast<int>(m.nnz - first < kAll ? m.nnz - first : kAll));
  if (may_wait) read_starts();
  const TileRows<Tile::kThreads, Offset> rows(threadIdx.x, static_cast<Offset>(first), kOwn, from,
                                              to);
  RowEntries<Offset> asked[1];
  rows.ask(m, asked);  // while entries and x come
  held.multiply(m.x, tile_begin(from, rows.first), tile_end(to, rows.first, kOwn), products);
  __syncthreads();  // the products are there before they are added up
  const auto put_down = [&](float sum) { flags[tile] = to_word(sum); };
  rows.sum(m, products, asked, put_down, [&](float sum, bool goes_on) {
    const bool is_first_lane = threadIdx.x % 32 == 0;
    if (goes_on) {
      if (is_first_lane) put_down(sum);
      return;
    }
    sum += take_parts(flags, __ldg(m.row_offsets + rows.row0 - 1) / kOwn, tile);
    if (is_first_lane) store_row(m, rows.row0 - 1, sum);
  });
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
