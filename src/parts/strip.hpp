#pragma once
// A strip of neighbouring tiles of a sparse matrix on its way through a block whose warps have
// roles. One copies the values of a tile to shared memory, some multiply them by x (x_order.hpp),
// some add up the rows. kStripTiles tiles are under way.

#include "parts/ptx/cp_async.hpp"
#include "parts/ptx/mbarrier.hpp"
#include "parts/ring_place.hpp"
#include "parts/x_order.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kStripTiles = 3, kAdders = 416, kRowsAtOnce = 4;
using StripPlace = RingPlace<kStripTiles>;

template <int kMost>
struct StripShared {
  float tiles[kStripTiles][kMost];  // values, and then products
  float carried[kStripTiles + 1];   // to the next tile, by a row that goes on there
  ptx::Barrier full[kStripTiles], multiplied[kStripTiles], empty[kStripTiles];

  // Called by one thread; a barrier of all users follows.
  __device__ __forceinline__ void init(unsigned gatherers) {
    for (int i = 0; i < kStripTiles; ++i) {
      ptx::barrier_init(&full[i], 32);
      ptx::barrier_init(&multiplied[i], gatherers);
      ptx::barrier_init(&empty[i], kAdders);
    }
    ptx::fence_barrier_init();
  }
};

// One warp fetches the values of each tile as soon as there is room.
template <class Tile, class Offset, class Shared>
__device__ __forceinline__ void copy_values(const Csr<Offset>& m, const Tile& shape,
                                            const Strip& strip, Shared& shared) {
  const int lane = threadIdx.x % 32;
  StripPlace to{0, 1};
  for (std::int64_t tile = strip.tile; tile < strip.end; ++tile, to.advance()) {
    const std::int64_t first = tile * shape.own(), left = m.nnz - first;
    const int count = static_cast<int>(left < shape.all() ? left : shape.all());
    const float* const values = m.values + first;
    float* const tile_values = shared.tiles[to.stage];
    ptx::wait(&shared.empty[to.stage], to.parity);
    int i = 0;
    if (reinterpret_cast<std::uintptr_t>(values) % 16 == 0) {
      for (; i + 4 <= count; i += 128) {
        const int at = i + 4 * lane;
        if (at + 4 <= count) ptx::cp_async<16>(tile_values + at, values + at);
      }
      i = count & ~3;
    }
    for (i += lane; i < count; i += 32) ptx::cp_async<4>(tile_values + i, values + i);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    ptx::arrive(&shared.full[to.stage]);
  }
}

// Rows that go on from tile to tile are carried. Of one that began in a strip before, what this one
// has waits for the end, where what the others have is there.
template <class Tile, class Offset, class Shared>
__device__ __forceinline__ void add_rows(const Csr<Offset>& m, const Tile& shape,
                                         const Strip& strip, const XOrder<Tile, Offset>& order,
                                         int t, std::uint64_t* flags, Shared& shared) {
  const int lane = t % 32;
  // A warp that is done may be kStripTiles tiles ahead of one that still reads.
  const auto carried = [&](std::int64_t tile) {
    return &shared.carried[(tile - strip.tile) % (kStripTiles + 1)];
  };
  StripPlace from, before;
  bool is_from_before = true, waits = false;
  float waiting = 0.0f;
  Offset waiting_row = 0;
  TileStart<Offset> start = order.starts[strip.tile], next = order.starts[strip.tile + 1];
  for (std::int64_t tile = strip.tile; tile < strip.end; ++tile) {
    const TileRows<kAdders, Offset> rows(t, static_cast<Offset>(tile * shape.own()), shape.own(),
                                         start, next);
    start = next;
    if (tile + 1 < strip.end) next = order.starts[tile + 2];
    RowEntries<Offset> asked[kRowsAtOnce];
    rows.ask(m, asked);
    float* const carry = carried(tile);
    bool goes_on_from_before = false;
    ptx::wait(&shared.multiplied[from.stage], from.parity);
    rows.sum(
        m, shared.tiles[from.stage], asked, [&](float sum) { *carry = sum; },
        [&](float sum, bool goes_on) {
          if (tile > strip.tile) {
            ptx::wait(&shared.empty[before.stage], before.parity);
            sum += *carried(tile - 1);
          }
          if (goes_on) {
            if (lane == 0) *carry = sum;
            goes_on_from_before = is_from_before;
          } else if (is_from_before) {
            waits = true, waiting = sum, waiting_row = rows.row0 - 1;
          } else if (lane == 0) {
            store_row(m, rows.row0 - 1, sum);
          }
        });
    is_from_before = goes_on_from_before;
    ptx::arrive(&shared.empty[from.stage]);
    before = from;
    from.advance();
  }
  if (t < kAdders - 32) return;
  if (start.cuts()) {
    ptx::wait(&shared.empty[before.stage], before.parity);
    if (lane == 0) flags[blockIdx.x] = to_word(*carried(strip.end - 1));
  }
  if (!waits) return;
  // The strip in which it began is the last that begins before its first entry's tile or with it.
  const std::int64_t tile = __ldg(m.row_offsets + waiting_row) / shape.own();
  int strips = 0;
  for (int i = lane; i < static_cast<int>(blockIdx.x); i += 32) {
    strips += order.strip_tiles[i] <= tile;
  }
  const int first = warp::reduce(strips, warp::Sum()) - 1;
  waiting += take_parts(flags, first, blockIdx.x);
  if (lane == 0) store_row(m, waiting_row, waiting);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
