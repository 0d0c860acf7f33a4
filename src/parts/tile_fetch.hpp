#pragma once
// A thread's share of a tile on its way from a matrix in global memory to shared memory, by way of
// registers. So the loads of one tile can be under way while another is computed on.

#include "parts/ptx/opaque.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// All kThreads threads of the block walk together along the depth of a matrix (k of a product).
// They fetch tile after tile of kDepth×kOuter elements, outer being rows of A or columns of B.
// store() lays a tile down as tile[depth][outer].
// kAlongDepth: neighbours in memory are neighbours in depth (A by rows), else along the outer side.
// kVector: 4 loads a float4, which needs 16-byte alignment of data and ld, and lines in memory of a
// multiple of 4 elements. The value 1 loads words. kSpares: many words along the depth take one
// pointer. kGroups: with more than one the block has so many groups of kThreads threads, each with
// tiles of its own.
template <int kOuter, int kDepth, int kThreads, bool kAlongDepth, int kVector, bool kSpares = false,
          int kGroups = 1>
class TileFetch {
 public:
  static constexpr int kPieces = kOuter * kDepth / kThreads / kVector;
  static_assert(kPieces * kThreads * kVector == kOuter * kDepth);
  static_assert(kDepth % kVector == 0 && kOuter % kVector == 0);

  // The tiles whose first outer index is outer0 < outers. Beyond `outers` the last one is read
  // again: what comes of it lies outside C and is never stored, and no load needs a condition.
  __device__ __forceinline__ TileFetch(const float* data, std::int64_t ld, std::int64_t outers,
                                       std::int64_t outer0)
      : ld_(ld) {
    if constexpr (kCounts) {
      const std::int64_t left = outers - outer0 - outer(0);
      left_ = left < kOuter ? static_cast<int>(left) : kOuter;
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPointers; ++p) {
      const std::int64_t last = outers - (kAlongDepth ? 1 : kVector);
      const std::int64_t wanted = outer0 + outer(p), o = wanted < last ? wanted : last;
      at_[p] = data + (kAlongDepth ? o * ld + depth(p) : depth(p) * ld + o);
    }
  }

  // Of the tiles that cover a depth of `depths` only the first is ragged. 0 if there are none.
  __device__ __forceinline__ static int first_depth(std::int64_t depths) {
    return depths == 0 ? 0 : static_cast<int>((depths - 1) % kDepth) + 1;
  }

  // Global memory → registers: the next `depth` ≤ kDepth elements along the depth, zeros after
  // them. A constant kDepth costs no comparison.
  __device__ __forceinline__ void fetch(int depths) {
    const float* line = at_[0];
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPieces; ++p) {
      if constexpr (kCounts) {
        if (p > 0) line += kAcross * ld_;
        ptx::make_opaque(line);                    // or multiples of ld_ take registers
        if (p > 0 && p * kAcross >= left_) break;  // what these pieces held before is as good
      }
      const float* at = kCounts ? line : kAlongDepth ? at_[p] : at_[0] + p * kAcross * ld_;
      const bool there = depths == kDepth || depth(p) < depths;
      piece_[p] = there ? *reinterpret_cast<const Piece*>(at) : Piece{};
    }
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPointers; ++p) at_[p] += kAlongDepth ? depths : depths * ld_;
  }

  // Registers → shared memory.
  template <int kStride>
  __device__ __forceinline__ void store(float (*tile)[kStride]) const {
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPieces; ++p) {
      if constexpr (kVector == 1) {
        tile[depth(p)][outer(p)] = piece_[p];
      } else if constexpr (kAlongDepth) {
        tile[depth(p) + 0][outer(p)] = piece_[p].x;
        tile[depth(p) + 1][outer(p)] = piece_[p].y;
        tile[depth(p) + 2][outer(p)] = piece_[p].z;
        tile[depth(p) + 3][outer(p)] = piece_[p].w;
      } else {
        *reinterpret_cast<float4*>(&tile[depth(p)][outer(p)]) = piece_[p];
      }
    }
  }

  // The same as doubles, of which lines begin 8 banks apart: lanes begin with different ones of
  // their elements, so that they meet different banks.
  template <int kStride>
  __device__ __forceinline__ void store(double (*tile)[kStride]) const {
    static_assert(kStride % 16 == 4 && kDepth >= 16);
    WARPLADDER_UNROLL_ON_GPU
    for (int p = 0; p < kPieces; ++p) {
      if constexpr (kVector == 1) {
        tile[depth(p)][outer(p)] = piece_[p];
      } else if constexpr (kAlongDepth) {
        const int turn = threadIdx.x % 4;
        float4 v = piece_[p];
        if (turn & 1) v = make_float4(v.y, v.z, v.w, v.x);
        if (turn & 2) v = make_float4(v.z, v.w, v.x, v.y);
        tile[depth(p) + turn][outer(p)] = v.x;
        tile[depth(p) + (turn + 1) % 4][outer(p)] = v.y;
        tile[depth(p) + (turn + 2) % 4][outer(p)] = v.z;
        tile[depth(p) + (turn + 3) % 4][outer(p)] = v.w;
      } else {
        const int turn = threadIdx.x / 4 % 2;
        float4 v = piece_[p];
        if (turn) v = make_float4(v.z, v.w, v.x, v.y);
        auto* const to = reinterpret_cast<double2*>(&tile[depth(p)][outer(p)]);
        to[turn] = make_double2(v.x, v.y);
        to[turn ^ 1] = make_double2(v.z, v.w);
      }
    }
  }

 private:
  using Piece = std::conditional_t<kVector == 4, float4, float>;
  // Neighbouring threads take neighbouring vectors in memory: kLine of them make a line of the
  // tile, and the block kAcross lines at once.
  static constexpr int kLine = (kAlongDepth ? kDepth : kOuter) / kVector;
  static constexpr int kAcross = kThreads / kLine;
  static_assert(kAcross * kLine == kThreads);
  __device__ __forceinline__ static unsigned thread() {
    return kGroups > 1 ? threadIdx.x % kThreads : threadIdx.x;
  }
  __device__ __forceinline__ static int along() { return thread() % kLine * kVector; }
  __device__ __forceinline__ static int across(int p) { return p * kAcross + thread() / kLine; }
  __device__ __forceinline__ static int outer(int p) { return kAlongDepth ? across(p) : along(); }
  __device__ __forceinline__ static int depth(int p) { return kAlongDepth ? along() : across(p); }

  // Pieces along the depth differ by a multiple of ld; those along the outer side may each be the
  // last line again. Of many pieces those beyond the last line are left out instead: pointers take
  // registers.
  static constexpr bool kCounts = kSpares && kAlongDepth && kVector == 1 && kPieces > 2;
  static constexpr int kPointers = kAlongDepth && !kCounts ? kPieces : 1;
  const float* at_[kPointers];
  std::int64_t ld_;
  int left_ = 0;  // lines from this thread's first one on, where kCounts
  Piece piece_[kPieces] = {};
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
