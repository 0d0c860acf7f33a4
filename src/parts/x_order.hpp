#pragma once
// In which order a tile of a sparse matrix asks for x: by columns. The L2 cache answers so many
// requests in a cycle, of one 128-byte line each. Neighbouring lanes that ask for the same line
// make one request. Rows are put together again by places. An entry is a word that says for which
// column it asks and which place in the tile its value has.

#include "parts/csr.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// An entry: its place in the tile, and how far its column lies behind the base of its 32.
struct OrderWord {
  static constexpr int kPlaceBits = 15;
  static constexpr unsigned kNobody = (1u << kPlaceBits) - 1,
                            kMostColumns = 1u << (32 - kPlaceBits);
  unsigned bits = kNobody;

  __device__ __forceinline__ int place() const { return static_cast<int>(bits & kNobody); }
  __device__ __forceinline__ int column() const { return static_cast<int>(bits >> kPlaceBits); }
};
// A base where 32 entries lie too far apart for words: columns are then looked up in A.
constexpr int kNoBase = -1;

// The words of all tiles, 32 neighbours being a chunk. The bases of a tile's chunks, by the warp
// that takes them: chunk c is number c / kWarps of warp c % kWarps. The tiles' first rows, and what
// they cost. The first tile of each strip, and of the end (OrderLayout of ops/spmv/problem.hpp).
template <class Tile, class Offset>
struct XOrder {
  static constexpr int kWarps = Tile::kWarps;
  std::int64_t tiles;
  int chunks, strips;  // of a tile, of all
  unsigned* words;
  int* bases;
  TileStart<Offset>* starts;
  int *costs, *strip_tiles;

  // In memory that is aligned to 16 bytes.
  template <class Layout>
  XOrder(void* memory, const Layout& at)
      : tiles(at.tiles),
        chunks(static_cast<int>(at.chunks)),
        strips(static_cast<int>(at.strips)),
        words(static_cast<unsigned*>(memory)),
        bases(static_cast<int*>(memory) + at.bases),
        starts(reinterpret_cast<TileStart<Offset>*>(static_cast<int*>(memory) + at.starts)),
        costs(static_cast<int*>(memory) + at.costs),
        strip_tiles(static_cast<int*>(memory) + at.strip_tiles) {}

  __device__ __forceinline__ int rounds() const { return Tile::rounds_of(chunks); }
  __device__ __forceinline__ unsigned* words_of(std::int64_t tile) const {
    return words + tile * chunks * 32;
  }
  __device__ __forceinline__ int* bases_of(std::int64_t tile, int warp) const {
    return bases + (tile * kWarps + warp) * rounds();
  }
};

// Tiles `tile` to `end` - 1.
struct Strip {
  std::int64_t tile, end;
};

// ---- making it

constexpr int kOrderThreads = 1024, kBucketsLog2 = 15;

// What lies before each thread's count, and what all have. Called by kOrderThreads threads.
template <class T>
struct CountBefore {
  T before, all;
};
template <class T>
__device__ __forceinline__ CountBefore<T> count_before(T count, T (&of_warp)[kOrderThreads / 32]) {
  const int t = threadIdx.x;
  const T in_warp = warp::inclusive_scan(count, warp::Sum());
  if (t % 32 == 31) of_warp[t / 32] = in_warp;
  __syncthreads();  // the warps' counts are there
  if (t < 32) of_warp[t] = warp::inclusive_scan(of_warp[t], warp::Sum());
  __syncthreads();  // and what lies before each warp
  return {in_warp - count + (t >= 32 ? of_warp[t / 32 - 1] : 0), of_warp[kOrderThreads / 32 - 1]};
}

template <int kMost>
struct OrderShared {
  int buckets[1 << kBucketsLog2];
  int of_warp[kOrderThreads / 32];
  int lines;
  std::uint16_t places[kMost];  // in the order of their buckets
};

// Orders the entries of tile blockIdx.x by columns, as far as buckets of 2^bucket_log2 columns tell
// them apart. Nobody asks in which order those of a bucket come. Called by every thread.
template <class Tile, class Offset>
__device__ __forceinline__ void order_tile(const Tile& shape, const Csr<Offset>& m,
                                           const XOrder<Tile, Offset>& order, int buckets,
                                           int bucket_log2, OrderShared<Tile::kMost>& shared) {
  static_assert(Tile::kMost < static_cast<int>(OrderWord::kNobody));  // a place's bits
  static_assert(Tile::kMost <= 32 * 32 * Tile::kWarps);               // a lane has a chunk's base
  const std::int64_t tile = blockIdx.x;
  const auto first = static_cast<Offset>(tile * shape.own());
  const TileStart<Offset> from = order.starts[tile], to = order.starts[tile + 1];
  const int t = threadIdx.x, lane = t % 32, begin = tile_begin(from, first),
            end = tile_end(to, first, shape.own());
  const int* const columns = m.column_indices + first;
  for (int i = t; i < buckets; i += kOrderThreads) shared.buckets[i] = 0;
  if (t == 0) shared.lines = 0;
  __syncthreads();  // all are empty
  for (int i = begin + t; i < end; i += kOrderThreads) {
    atomicAdd(&shared.buckets[columns[i] >> bucket_log2], 1);
  }
  __syncthreads();  // all have been counted
  // Each thread has neighbouring buckets.
  const int each = (buckets + kOrderThreads - 1) / kOrderThreads, own = t * each,
            own_end = own + each < buckets ? own + each : buckets;
  int count = 0;
  for (int i = own; i < own_end; ++i) count += shared.buckets[i];
  int before = count_before(count, shared.of_warp).before;
  for (int i = own; i < own_end; ++i) {
    const int of_bucket = shared.buckets[i];
    shared.buckets[i] = before;
    before += of_bucket;
  }
  __syncthreads();  // each bucket knows where it begins
  for (int i = begin + t; i < end; i += kOrderThreads) {
    const int at = atomicAdd(&shared.buckets[columns[i] >> bucket_log2], 1);
    shared.places[at] = static_cast<std::uint16_t>(i);
  }
  __syncthreads();  // all places are there
  int lines = 0;
  for (int chunk = t / 32; chunk < order.chunks; chunk += kOrderThreads / 32) {
    const int at = chunk * 32 + lane;
    const bool there = at < end - begin;
    const int place = there ? shared.places[at] : 0;
    const unsigned column = there ? columns[place] : ~0u,
                   before = __shfl_up_sync(warp::kAllLanes, column, 1);
    const bool is_new = there && (lane == 0 || before / 32 != column / 32);
    lines += __popc(__ballot_sync(warp::kAllLanes, is_new));
    const unsigned base = warp::reduce(column, warp::Min());
    const bool too_far =
        __any_sync(warp::kAllLanes, there && column - base >= OrderWord::kMostColumns);
    const unsigned off = too_far ? 0 : column - base;
    order.words_of(tile)[at] =
        there ? off << OrderWord::kPlaceBits | static_cast<unsigned>(place) : OrderWord::kNobody;
    if (lane == 0) {
      order.bases_of(tile, chunk % Tile::kWarps)[chunk / Tile::kWarps] =
          too_far ? kNoBase : static_cast<int>(base);
    }
  }
  if (lane == 0) atomicAdd(&shared.lines, lines);
  __syncthreads();  // all lines have been counted
  // What a line, an entry and a row take, as measured on an H200.
  const std::int64_t rows = to.first_row() - from.first_row(),
                     cost = 2 * shared.lines + 3 * (end - begin) + 8 * rows;
  if (t == 0) order.costs[tile] = static_cast<int>(min(cost, std::int64_t{1} << 30));
}

// Cuts the tiles into strips of about the same cost. Called by every thread of one block.
template <class Tile, class Offset>
__device__ __forceinline__ void cut_strips(const XOrder<Tile, Offset>& order) {
  __shared__ std::int64_t of_warp[kOrderThreads / 32];
  const int t = threadIdx.x;
  const std::int64_t each = (order.tiles + kOrderThreads - 1) / kOrderThreads, own = t * each,
                     behind = own + each, own_end = behind < order.tiles ? behind : order.tiles;
  std::int64_t cost = 0;
  for (std::int64_t i = own; i < own_end; ++i) cost += order.costs[i];
  auto [before, all] = count_before(cost, of_warp);
  const double strips_of_cost = order.strips / static_cast<double>(all);
  // A tile belongs to the strip in which its middle lies.
  const auto strip_of = [&](std::int64_t middle) {
    const int strip = static_cast<int>(static_cast<double>(middle) * strips_of_cost);
    return strip < order.strips ? strip : order.strips - 1;
  };
  int strip = own > 0 && own < own_end
                  ? strip_of(before - order.costs[own - 1] + order.costs[own - 1] / 2)
                  : -1;
  for (std::int64_t i = own; i < own_end; ++i) {
    const int next = strip_of(before + order.costs[i] / 2);
    while (strip < next) order.strip_tiles[++strip] = static_cast<int>(i);
    before += order.costs[i];
  }
  if (own < own_end && own_end == order.tiles) {
    while (strip < order.strips) order.strip_tiles[++strip] = static_cast<int>(order.tiles);
  }
}

// ---- using it

// Multiplies the values in tiles in shared memory by x. Tile::kWarps warps have one each, t being
// the thread's number among them.
template <class Tile, class Offset>
class XGatherer {
 public:
  __device__ __forceinline__ XGatherer(const Csr<Offset>& m, const XOrder<Tile, Offset>& order,
                                       int t)
      : m_(m), order_(order), rounds_(order.rounds()), warp_(t / 32), lane_(t % 32) {}

  // values[place] *= x[column] for the entries of the tiles, of `own` entries each. begin() is
  // called before the values of a tile are touched, and says where they are, end() after it.
  template <class Begin, class End>
  __device__ __forceinline__ void multiply(Strip strip, int own, const Begin& begin,
                                           const End& end) {
    // Words come from memory, behind all that the block asks of it. They are asked for kSets
    // batches before they are needed, into registers that stay where they are.
    OrderWord words[kSets][kBatch];
    std::int64_t tile = strip.tile, tile_ahead = tile;
    int round_ahead = 0, round = 0;
    const auto ask_ahead = [&](OrderWord(&set)[kBatch]) {
      if (tile_ahead < strip.end) ask_words(tile_ahead, round_ahead, set);
      round_ahead += kBatch;
      if (round_ahead >= rounds_) round_ahead = 0, ++tile_ahead;
    };
    WARPLADDER_UNROLL
    for (int i = 0; i < kSets; ++i) ask_ahead(words[i]);
    int bases = 0, next = ask_bases(tile);
    float* values = nullptr;
    WARPLADDER_NO_UNROLL
    while (tile < strip.end) {
      WARPLADDER_UNROLL
      for (int i = 0; i < kSets; ++i) {
        if (tile >= strip.end) break;
        const bool is_first = round == 0;
        if (is_first) {
          bases = next;
          if (tile + 1 < strip.end) next = ask_bases(tile + 1);
        }
        int place[kBatch];
        float of_x[kBatch];
        ask_x(words[i], bases, round, static_cast<Offset>(tile * own), place, of_x);
        ask_ahead(words[i]);
        if (is_first) values = begin();
        float value[kBatch];
        WARPLADDER_UNROLL
        for (int u = 0; u < kBatch; ++u) {
          value[u] = place[u] != kNowhere ? values[place[u]] : 0.0f;
        }
        WARPLADDER_UNROLL
        for (int u = 0; u < kBatch; ++u) {
          if (place[u] != kNowhere) values[place[u]] = value[u] * of_x[u];
        }
        round += kBatch;
        if (round >= rounds_) {
          round = 0, ++tile;
          end();
        }
      }
    }
  }

 private:
  static constexpr int kBatch = 4, kSets = 4, kNowhere = OrderWord::kNobody;

  // Those of the warp's chunks: lane l has that of round l.
  __device__ __forceinline__ int ask_bases(std::int64_t tile) const {
    return lane_ < rounds_ ? __ldg(order_.bases_of(tile, warp_) + lane_) : 0;
  }
  __device__ __forceinline__ void ask_words(std::int64_t tile, int round,
                                            OrderWord (&words)[kBatch]) const {
    const std::uint64_t policy = ptx::evict_first();
    const auto* const of_tile = reinterpret_cast<const int*>(order_.words_of(tile));
    WARPLADDER_UNROLL
    for (int u = 0; u < kBatch; ++u) {
      const int chunk = (round + u) * Tile::kWarps + warp_;
      words[u] = {};
      if (chunk < order_.chunks) {
        words[u].bits = static_cast<unsigned>(ptx::load_with(policy, of_tile + chunk * 32 + lane_));
      }
    }
  }
  __device__ __forceinline__ void ask_x(const OrderWord (&words)[kBatch], int bases, int round,
                                        Offset first, int (&place)[kBatch],
                                        float (&of_x)[kBatch]) const {
    int column[kBatch];
    bool all_have_bases = true;
    WARPLADDER_UNROLL
    for (int u = 0; u < kBatch; ++u) {
      const int base = __shfl_sync(warp::kAllLanes, bases, (round + u) % 32);
      column[u] = base != kNoBase ? base + words[u].column() : kNoBase;
      place[u] = words[u].place();
      all_have_bases = all_have_bases && base != kNoBase;
    }
    if (!all_have_bases) {
      WARPLADDER_UNROLL
      for (int u = 0; u < kBatch; ++u) {
        if (column[u] == kNoBase && place[u] != kNowhere) {
          column[u] = __ldg(m_.column_indices + first + place[u]);
        }
      }
    }
    WARPLADDER_UNROLL
    for (int u = 0; u < kBatch; ++u) {
      of_x[u] = place[u] != kNowhere ? __ldg(m_.x + column[u]) : 0.0f;
    }
  }

  const Csr<Offset>& m_;
  const XOrder<Tile, Offset>& order_;
  const int rounds_, warp_, lane_;
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
