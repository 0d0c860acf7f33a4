#pragma once
// y = alpha · A · x + beta · y, fp32, A sparse in compressed rows (CSR).
//
// Sizes count elements. Row i has the stored entries row_offsets[i] to row_offsets[i + 1], entry e
// the column column_indices[e] and the value values[e]; all indices begin at 0. Entries of a row
// may stand in any order. A stored entry counts whatever its value is: 0 · NaN is NaN. beta == 0
// never reads y, alpha == 0 never reads A or x. Included by rungs: plain data and arithmetic only.

#include <algorithm>
#include <cstdint>

#include "runtime/machine.hpp"
#include "runtime/status.hpp"

namespace warpladder::spmv {

struct Problem {
  std::int64_t rows = 0, columns = 0, nnz = 0;
  bool wide_offsets = false;  // row offsets of 64 bits; of 32 they hold up to 2^31 - 1 entries
  float alpha = 1.0f, beta = 0.0f;
  // A hint: neighbouring entries ask for x at places far apart. Decides how work is cut up.
  bool scattered = false;
  // And hardly any two of 32 neighbours for places in one sector: no columns are more frequent than
  // others by much.
  bool even = false;
  // The most entries of any row.
  static constexpr std::int64_t kUnknown = -1;
  std::int64_t longest_row = kUnknown;
};

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Pieces of equal work, of which a block takes one. Merge tiles: rows and entries in the order in
// which a merge takes them, an entry before the end of its row. Entry tiles: entries alone. A row
// that goes on into the next one by up to kMore entries stays with the tile in which it begins.
template <int kThreadsOfBlock, int kItemsOfThread, int kBlocksAtOnce>
struct Tile {
  static constexpr int kThreads = kThreadsOfBlock, kItems = kItemsOfThread, kBlocks = kBlocksAtOnce,
                       kAll = kThreads * kItems, kMore = 32, kOwn = kAll - kMore;
  constexpr int own() const { return kOwn; }
};
// Many loads on their way from each thread keep memory busy. Where most of them are for x, from the
// L2 cache, threads are worth more.
using DeepTile = Tile<256, 8, 6>;
using BroadTile = Tile<512, 3, 4>;
inline std::int64_t merge_tiles(const Problem& p) {
  return ceil_div(p.rows + p.nnz, DeepTile::kAll);
}
// Calls run.template operator()<OfTile>() for the entry tiles that suit a matrix.
template <class Run>
auto with_entry_tile(const Problem& p, const Run& run) {
  return p.scattered ? run.template operator()<BroadTile>() : run.template operator()<DeepTile>();
}
// How many tiles of a shape so many entries take.
template <class OfTile>
std::int64_t tiles_of(const OfTile& shape, std::int64_t nnz) {
  return ceil_div(nnz, shape.own());
}
inline std::int64_t entry_tiles(const Problem& p) {
  return with_entry_tile(p, [&]<class OfTile>() { return tiles_of(OfTile(), p.nnz); });
}

// Pieces of entries for a product that knows in which order to ask for x. The more entries are
// sorted together, the more of them ask for the same lines. As many blocks as there are
// multiprocessors have a strip of such tiles each.
struct LongTile {
  static constexpr int kMore = 32, kMost = 13824, kLeast = 1024;
  static constexpr int kWarps = 18;  // that ask for x, 32 entries at a time
  int own_entries = 0;               // it has kMore entries more than it owns

  constexpr int own() const { return own_entries; }
  constexpr int all() const { return own_entries + kMore; }  // a multiple of 32
  static constexpr int rounds_of(int chunks) { return (chunks + kWarps - 1) / kWarps; }
};
inline LongTile long_tile(const Problem& p, const runtime::Machine& machine) {
  // As many tiles for each strip, if all cost the same. A small matrix has at least three: one is
  // copied, one multiplied, one added up.
  const std::int64_t of_strip = ceil_div(p.nnz, machine.multiprocessors),
                     tiles = std::max<std::int64_t>(
                         3, ceil_div(of_strip, LongTile::kMost - LongTile::kMore)),
                     own = 32 * ceil_div(ceil_div(of_strip, tiles), 32);
  return {static_cast<int>(std::max<std::int64_t>(own, LongTile::kLeast - LongTile::kMore))};
}

// Chunks of entries, of which a warp takes one in tiles of kTile. Their blocks last: one to a
// multiprocessor, in clusters, as many as there is room for. Small matrices take fewer clusters.
struct Chunks {
  static constexpr int kTile = 256, kWarps = 24, kCluster = 8;
  int entries;          // of a chunk
  std::int64_t blocks;  // whole clusters
};
inline std::int64_t chunk_entries(const Problem& p, const runtime::Machine& machine) {
  const int room = machine.clusters_of(Chunks::kCluster), clusters = room > 0 ? room : 1;
  const std::int64_t most = clusters * Chunks::kCluster * Chunks::kWarps;
  return Chunks::kTile * std::max<std::int64_t>(1, ceil_div(p.nnz, most * Chunks::kTile));
}
inline std::int64_t chunk_count(const Problem& p, const runtime::Machine& machine) {
  return ceil_div(p.nnz, chunk_entries(p, machine));
}
inline Chunks chunks_of(const Problem& p, const runtime::Machine& machine) {
  return {static_cast<int>(chunk_entries(p, machine)),
          Chunks::kCluster * ceil_div(chunk_count(p, machine), Chunks::kCluster * Chunks::kWarps)};
}

// Rows of more entries than this are worth more than one block.
constexpr int kLongRow = 8192, kBlocksOfLongRow = 32;
inline std::int64_t most_long_rows(const Problem& p) { return p.nnz / kLongRow; }

// What a plan has of those tiles, in words of 32 bits. First come the words of their entries, 32 of
// them being a chunk, and the bases of their chunks. Then come where their rows begin, in pairs of
// offsets, and what they cost. Last come the first tile of each strip, and of the end.
struct OrderLayout {
  std::int64_t tiles, chunks, strips;  // in all, of a tile, in all
  std::int64_t bases, starts, costs, strip_tiles, end;
};
inline OrderLayout order_layout(const Problem& p, const runtime::Machine& machine) {
  const LongTile shape = long_tile(p, machine);
  OrderLayout at{};
  at.tiles = tiles_of(shape, p.nnz);
  at.chunks = shape.all() / 32;
  at.strips = std::min<std::int64_t>(machine.multiprocessors, at.tiles);
  const std::int64_t rounds = LongTile::rounds_of(static_cast<int>(at.chunks));
  at.bases = at.tiles * shape.all();
  at.starts = at.bases + ceil_div(at.tiles * LongTile::kWarps * rounds, 4) * 4;  // to 16 bytes
  at.costs = at.starts + (p.wide_offsets ? 4 : 2) * (at.tiles + 1);
  at.strip_tiles = at.costs + at.tiles;
  at.end = at.strip_tiles + at.strips + 1;
  return at;
}

// The workspace of a call. Flags belong to one stream; each call finds them all zero and leaves
// them so. Of the scratch it may expect nothing. A plan is made once for a matrix's row offsets
// and columns, and holds for any values.
inline std::int64_t flag_words(const Problem& p, const runtime::Machine& machine) {
  return std::max({1 + kBlocksOfLongRow * most_long_rows(p), merge_tiles(p), entry_tiles(p),
                   order_layout(p, machine).strips, chunk_count(p, machine)});
}
// Rungs that prepare have a part of the plan each.
inline std::int64_t start_words(const Problem& p) { return 2 * (entry_tiles(p) + 1); }
inline std::int64_t order_at(const Problem& p) { return ceil_div(start_words(p), 16) * 16; }
inline std::int64_t plan_words(const Problem& p, const runtime::Machine& machine) {
  return order_at(p) + ceil_div(order_layout(p, machine).end, 2);
}
inline std::int64_t scratch_words(const Problem& p) {
  return std::max(most_long_rows(p), start_words(p));
}

// A problem, where its operands lie in device memory (y overlaps nothing else), and its workspace.
struct Call {
  Problem problem;
  const void* row_offsets = nullptr;  // of std::int32_t, or of std::int64_t: rows + 1
  const std::int32_t* column_indices = nullptr;
  const float* values = nullptr;
  const float* x = nullptr;  // columns
  float* y = nullptr;        // rows
  std::uint64_t* flags = nullptr;
  std::int64_t *scratch = nullptr, *plan = nullptr;
  std::uint64_t matrix_id = 0;  // no two matrices of a process have the same
};

// Floating-point operations, and the bytes that must move at the least. A and x are read once; y is
// written once, and read once if beta asks for it.
double flops(const Problem& p);
double minimal_bytes(const Problem& p);

// Refuses negative sizes, sizes that the index types do not hold, and entries without a place.
runtime::Status check(const Problem& p) noexcept;

}  // namespace warpladder::spmv
