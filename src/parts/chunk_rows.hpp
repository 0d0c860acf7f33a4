#pragma once
// Chunks of the entries of a sparse matrix, of which a warp takes one, tile after tile, and needs
// no other warp before its end. A chunk has the rows that end in it, behind its first entry or, of
// the first chunk, anywhere. What it has of a row that goes on waits in a word with a flag for the
// chunk in which the row ends.

#include <limits>

#include "parts/csr.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Columns or values of a tile on their way to a lane, from its own first one on; `left` of the tile
// are there.
template <int kItems, class T>
__device__ __forceinline__ void load_tile(T (&into)[kItems], const T* from, int left) {
  const std::uint64_t policy = ptx::evict_first();  // they are read once, x again and again
  left -= static_cast<int>(threadIdx.x % 32);
  WARPLADDER_UNROLL
  for (int u = 0; u < kItems; ++u) into[u] = ptx::load_with(policy, from + 32 * u, 32 * u < left);
}

// Products in shared memory, with an empty word behind each 32. So lanes that walk along rows of 8,
// 16 or 32 are in different banks.
struct PaddedProducts {
  float* words;
  static constexpr int words_for(int count) { return count + count / 32; }
  __device__ __forceinline__ float& operator[](int i) const { return words[i + (i >> 5)]; }
};

// The rows of a chunk. All functions are called by the whole warp.
template <class Offset>
class ChunkRows {
 public:
  __device__ __forceinline__ ChunkRows(const Csr<Offset>& m, std::int64_t chunk, int chunk_entries)
      : chunk_(static_cast<int>(chunk)),
        begun_in_(chunk_),
        first_(static_cast<Offset>(chunk * chunk_entries)) {
    if (chunk > 0) {
      const auto found =
          crossing<Offset>(0, 0, static_cast<Offset>(m.rows), static_cast<Offset>(m.nnz),
                           first_ + 1, [&](Offset i) { return __ldg(m.row_offsets + i); });
      first_row_ = found.index - 1;
      begun_in_ = static_cast<int>(found.before / chunk_entries);
    }
    row_ = first_row_;
    asked_ = ask(m, row_);
    advance(m);
  }

  // Adds up what a tile has, of the chunk's entries `from` to `to`; products[0] is the first of
  // them. True if its last row goes on behind it.
  template <class Products>
  __device__ __forceinline__ bool add(const Csr<Offset>& m, const Products& products, int from,
                                      const int to) {
    const int lane = threadIdx.x % 32, tile = from;
    for (;;) {
      if (at_ == 32) {
        row_ += 32;
        advance(m);
      }
      const int ended = __popc(__ballot_sync(warp::kAllLanes, end_ <= to));
      if (at_ == ended && from == to) return false;
      // Two lanes to a row.
      const int at = at_ + lane / 2, begin = __shfl_sync(warp::kAllLanes, end_, (at - 1) & 31),
                end = __shfl_sync(warp::kAllLanes, end_, at & 31);
      Segment own{lane < 2 ? from - tile : begin - tile, (end < to ? end : to) - tile};
      if (at >= 32 || own.from > own.to) own = {0, 0};
      float sum = sum_segment(products, own, lane, 1);
      if (lane < 2) sum += carry_;
      if (at < ended && lane % 2 == 0) {
        if (row_ + at == first_row_ && begun_in_ < chunk_) {
          waiting_ = sum;  // which lane 0 has
        } else {
          store_row(m, row_ + at, sum);
        }
      }
      const int rows = ended - at_ < 16 ? ended - at_ : 16;
      at_ += rows;
      if (rows > 0) from = __shfl_sync(warp::kAllLanes, end_, at_ - 1);
      carry_ = 0.0f;
      if (rows < 16 && at_ < 32) {
        carry_ = __shfl_sync(warp::kAllLanes, sum, 2 * rows);
        return from < to;
      }
    }
  }

  // Hands on what the last row has, if it goes on, and finishes a row that began in chunks before.
  // Finishing comes last, so that no chunk waits for others before it has handed on its own.
  __device__ __forceinline__ void finish(const Csr<Offset>& m, std::uint64_t* flags, bool goes_on) {
    const bool is_first_lane = threadIdx.x % 32 == 0;
    if (goes_on && is_first_lane) flags[chunk_] = to_word(carry_);
    if (begun_in_ == chunk_ || row_ + at_ == first_row_) return;
    const float sum = take_parts(flags, begun_in_, chunk_) + waiting_;
    if (is_first_lane) store_row(m, first_row_, sum);
  }

 private:
  // Where row `row` + lane ends.
  static __device__ __forceinline__ Offset ask(const Csr<Offset>& m, std::int64_t row) {
    const std::int64_t own = row + threadIdx.x % 32;
    return own < m.rows ? __ldg(m.row_offsets + own + 1) : 0;
  }
  // Takes what has been asked for, of 32 rows from row_ on, and asks for the next.
  __device__ __forceinline__ void advance(const Csr<Offset>& m) {
    constexpr int kNever = std::numeric_limits<int>::max();
    const Offset end = asked_ - first_;
    end_ = row_ + std::int64_t{threadIdx.x % 32} < m.rows && end < kNever ? static_cast<int>(end)
                                                                          : kNever;
    at_ = 0;
    asked_ = ask(m, row_ + std::int64_t{32});
  }

  int chunk_, begun_in_;  // chunks: this one, and that in which its first row begins
  Offset first_, first_row_ = 0;
  Offset row_, asked_;  // the first of 32 rows, of which each lane has one; and the next ones' ends
  int end_, at_;  // where the lane's row ends, from first_ on; and how many have been added up
  float carry_ = 0.0f, waiting_ = 0.0f;
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
