#pragma once
// Asynchronous copies of a tile of an operand that are asked for one by one, between the steps of a
// product (row_30_even_tiles).

#include "parts/ptx/cp_async.hpp"
#include "parts/ptx/load.hpp"
#include "parts/ptx/opaque.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// All threads copy kDepth of k of kOuter lines (A's rows, B's columns), as tile[k][line].
// kAlong: neighbours in memory are neighbours in k, and come word by word; padding keeps a
// request's words on different banks. Else kVector neighbours of a row of the tile come at once.
//
// What threads share of an address is in one pointer, which the GPU keeps in uniform registers; the
// rest are 32-bit distances. So a copy takes two additions, and waits for no other copy's address.
template <int kOuter, int kDepth, int kThreads, bool kAlong, int kVector>
class SpreadCopy {
  static constexpr int kWidth = kAlong ? 1 : kVector,
                       kLine = kAlong ? kDepth : kOuter / kWidth,   // threads of a line in memory
      kAcross = kThreads / kLine, kAll = kAlong ? kOuter : kDepth;  // lines in memory

 public:
  static constexpr int stride = kOuter + (kAlong ? 4 : 0), copies = kAll / kAcross;
  static_assert(kThreads % kLine == 0 && kAll % kAcross == 0);
  // Distances of a tile's elements stay below 4 GiB.
  static constexpr std::int64_t most_ld = (std::int64_t{1} << 30) / kOuter;

  // The lines from line0 < lines on. Beyond `lines` the last one is copied again: what comes of it
  // lies outside C and is never stored.
  __device__ __forceinline__ SpreadCopy(const float* data, std::int64_t ld, std::int64_t lines,
                                        std::int64_t line0)
      : data_(data + (kAlong ? line0 * ld : line0)), ld_(ld) {
    const std::int64_t last = lines - line0 - (kAlong ? 1 : kWidth);
    WARPLADDER_UNROLL
    for (int p = 0; p < copies; ++p) {
      const std::int64_t wanted = line(p), l = wanted < last ? wanted : last;
      from_[p] =
          static_cast<unsigned>(sizeof(float) * (kAlong ? l * ld + depth(p) : depth(p) * ld + l));
      ptx::make_opaque(from_[p]);  // or it is worked out again for each copy
    }
    ptx::make_opaque(place_);
  }

  // Copy number p of the next kDepth of k.
  __device__ __forceinline__ void copy_part(float (*tile)[stride], int p) const {
    ptx::cp_async<4 * kWidth>(&tile[0][0] + place_ + p * kNext, at(p));
  }
  // All copies of the next `depths` of k, and zeros after them, as of RingCopy.
  __device__ __forceinline__ void copy(float (*tile)[stride], int depths) {
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < copies; ++p) {
      ptx::cp_async<4 * kWidth>(&tile[0][0] + place_ + p * kNext, at(p),
                                depth(p) < depths ? 4 * kWidth : 0);
    }
    advance(depths);
  }
  __device__ __forceinline__ void advance(int depths) { data_ += kAlong ? depths : depths * ld_; }

 protected:
  __device__ __forceinline__ static int along() { return threadIdx.x % kLine * kWidth; }
  __device__ __forceinline__ static int across(int p) {
    return p * kAcross + static_cast<int>(threadIdx.x) / kLine;
  }
  __device__ __forceinline__ static int line(int p) { return kAlong ? across(p) : along(); }
  __device__ __forceinline__ static int depth(int p) { return kAlong ? along() : across(p); }
  __device__ __forceinline__ const char* at(int p) const {
    return reinterpret_cast<const char*>(data_) + from_[p];
  }

  static constexpr int kNext = kAcross * (kAlong ? 1 : stride);  // of a tile, from copy to copy
  const float* data_;
  std::int64_t ld_;
  unsigned from_[copies];
  unsigned place_ = depth(0) * stride + line(0);  // of the first copy, in a tile
};

// The same of words, by way of registers: a warp's asynchronous copy of words takes four cycles of
// shared memory. A piece's first rounds are copied asynchronously, all at once.
template <int kOuter, int kDepth, int kThreads, bool kAlong>
class HeldCopy : public SpreadCopy<kOuter, kDepth, kThreads, kAlong, 1> {
  using Base = SpreadCopy<kOuter, kDepth, kThreads, kAlong, 1>;

 public:
  using Base::Base, Base::copies, Base::stride;

  // Word p of the next kDepth of k, to a register, if it is wanted.
  __device__ __forceinline__ void load_part(int p, bool wanted) {
    ptx::load_if(wanted, word_[p], reinterpret_cast<const float*>(this->at(p)));
  }
  // All words, from registers to the tile.
  __device__ __forceinline__ void store(float (*tile)[stride]) const {
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < copies; ++p) (&tile[0][0])[this->place_ + p * this->kNext] = word_[p];
  }

 private:
  float word_[copies] = {};
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
