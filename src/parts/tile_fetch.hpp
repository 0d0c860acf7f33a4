#pragma once
// A thread's share of a tile on its way from a matrix in global memory to shared memory, by way of
// registers, so that the loads of one tile can be under way while another is computed on.

#include "device/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Where a tile comes from: element (o, d) of the matrix, o along the tile's outer side (rows of A,
// columns of B) and d along its depth. Everything from `outers` or `depths` on counts as zero.
struct TileSource {
  const float* data;
  std::int64_t ld;
  std::int64_t outers, depths;
};

// All kThreads threads of the block fetch together a tile of kDepth×kOuter elements, which store()
// lays down as tile[depth][outer].
// kAlongDepth: neighbours in memory are neighbours in depth (A by rows), else along the outer side.
// kVector: 4 loads a float4, which needs 16-byte alignment of data and ld; 1 loads words.
template <int kOuter, int kDepth, int kThreads, bool kAlongDepth, int kVector>
class TileFetch {
 public:
  static constexpr int kPieces = kOuter * kDepth / kThreads / kVector;
  static_assert(kPieces * kThreads * kVector == kOuter * kDepth);
  static_assert(kDepth % kVector == 0 && kOuter % kVector == 0);

  // Global memory → registers: the tile whose first element is (outer0, depth0).
  __device__ __forceinline__ void fetch(const TileSource& from, std::int64_t outer0,
                                        std::int64_t depth0) {
    WARPLADDER_UNROLL
    for (int p = 0; p < kPieces; ++p) {
      const std::int64_t o = outer0 + outer(p), d = depth0 + depth(p);
      const float* at = from.data + (kAlongDepth ? o * from.ld + d : d * from.ld + o);
      if constexpr (kVector == 4) {
        const bool all = kAlongDepth ? o < from.outers && d + 3 < from.depths
                                     : d < from.depths && o + 3 < from.outers;
        if (all) {
          piece_[p] = *reinterpret_cast<const float4*>(at);
          continue;
        }
        const auto one = [&](int i) {
          const bool there = kAlongDepth ? o < from.outers && d + i < from.depths
                                         : d < from.depths && o + i < from.outers;
          return there ? at[i] : 0.0f;
        };
        piece_[p] = make_float4(one(0), one(1), one(2), one(3));
      } else {
        piece_[p] = o < from.outers && d < from.depths ? *at : 0.0f;
      }
    }
  }

  // Registers → shared memory.
  template <int kStride>
  __device__ __forceinline__ void store(float (*tile)[kStride]) const {
    WARPLADDER_UNROLL
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

 private:
  // Neighbouring threads take neighbouring vectors in memory.
  static constexpr int kLine = (kAlongDepth ? kDepth : kOuter) / kVector;
  __device__ __forceinline__ static int vector(int p) { return p * kThreads + threadIdx.x; }
  __device__ __forceinline__ static int along(int p) { return vector(p) % kLine * kVector; }
  __device__ __forceinline__ static int across(int p) { return vector(p) / kLine; }
  __device__ __forceinline__ static int outer(int p) { return kAlongDepth ? across(p) : along(p); }
  __device__ __forceinline__ static int depth(int p) { return kAlongDepth ? along(p) : across(p); }

  std::conditional_t<kVector == 4, float4, float> piece_[kPieces];
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
