#pragma once
// What the lanes of a warp tell each other through registers alone.
//
// A warp falls into segments of kWidth neighbouring lanes (2, 4, 8, 16 or 32), each for itself:
// nothing passes from one segment to another. `mask` names the members, any lanes of the warp; a
// segment may have gaps, or no member at all.
//
// Who calls: every member, with the same mask, and no other lane.
// Who takes part: the members. No other lane is read or counts for anything.
// Where the result is valid: in every member, as each function says.
// Types: int, unsigned, float, double, whatever else a shuffle takes, and float4 by components.
// What it costs: given with each function, in shuffles of one value. A double takes the GPU two, a
// float4 four. "Whole" is a mask in which each segment has all lanes or none; a mask that is a
// constant costs nothing to ask.

#include <type_traits>

#include "parts/ptx/lane_id.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts::warp {
inline namespace WARPLADDER_FLAVOUR {

constexpr unsigned kAllLanes = 0xffffffffu;

// Operators for reduce and the scans: any function of two scalars will do that is associative and,
// for reduce, commutative. Sums of floating-point numbers are rounded in the order of a tree.
struct Sum {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Min {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return min(a, b);
  }
};
struct Max {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return max(a, b);
  }
};

template <class Op, class T>
__device__ __forceinline__ T combine(const Op& op, T a, T b) {
  if constexpr (std::is_same_v<T, float4>) {
    return make_float4(op(a.x, b.x), op(a.y, b.y), op(a.z, b.z), op(a.w, b.w));
  } else {
    return op(a, b);
  }
}

// The value of lane `from` of the warp, which is a member.
template <class T>
__device__ __forceinline__ T read(T value, int from, unsigned mask) {
  if constexpr (std::is_same_v<T, float4>) {
    return make_float4(__shfl_sync(mask, value.x, from), __shfl_sync(mask, value.y, from),
                       __shfl_sync(mask, value.z, from), __shfl_sync(mask, value.w, from));
  } else {
    return __shfl_sync(mask, value, from);
  }
}
// The same, or the caller's own value where `from` is no member.
template <class T>
__device__ __forceinline__ T read_member(T value, int from, unsigned mask) {
  return read(value, mask >> from & 1 ? from : ptx::lane_id(), mask);
}

template <int kWidth>
__device__ __forceinline__ int first_lane() {
  static_assert(kWidth == 2 || kWidth == 4 || kWidth == 8 || kWidth == 16 || kWidth == 32);
  return ptx::lane_id() & -kWidth;
}
// Whether each segment has all its lanes in the mask or none: its first lane's bit says which.
template <int kWidth>
__device__ __forceinline__ bool is_whole(unsigned mask) {
  constexpr unsigned kSegment = kAllLanes >> (32 - kWidth), kFirstLanes = kAllLanes / kSegment;
  return (mask & kFirstLanes) * kSegment == mask;
}
// The member before the caller in its segment; -1 if the caller is the first.
template <int kWidth>
__device__ __forceinline__ int member_before(unsigned mask) {
  const int lane = ptx::lane_id(), first = first_lane<kWidth>();
  if (is_whole<kWidth>(mask)) return lane > first ? lane - 1 : -1;
  const unsigned before = mask & ((1u << lane) - (1u << first));
  return 31 - __clz(static_cast<int>(before));
}

// Every member gets the value of lane `source` of its segment, 0 ≤ source < kWidth; where that is
// no member, its own. One shuffle.
template <int kWidth = 32, class T>
__device__ __forceinline__ T broadcast(T value, int source, unsigned mask = kAllLanes) {
  return read_member(value, first_lane<kWidth>() + source, mask);
}

// Lane l of a segment gets the value of lane (l + by) modulo kWidth, for any `by`, also below 0.
// Where that is no member, it gets its own. One shuffle.
template <int kWidth = 32, class T>
__device__ __forceinline__ T rotate(T value, int by, unsigned mask = kAllLanes) {
  const int lane = (ptx::lane_id() + by) & (kWidth - 1);
  return read_member(value, first_lane<kWidth>() + lane, mask);
}

// The butterfly: two lanes whose numbers differ in just these bits, 0 ≤ bits < 32, get each other's
// values. A lane whose partner is no member gets its own. Lanes of one segment for any kWidth >
// bits. One shuffle.
template <class T>
__device__ __forceinline__ T exchange(T value, int bits, unsigned mask = kAllLanes) {
  return read_member(value, ptx::lane_id() ^ bits, mask);
}

// Member after member of a segment, in the order of the lanes: each gets op over the values up to
// and with its own. log2(kWidth) shuffles if the mask is whole, else 2·log2(kWidth) - 1.
template <int kWidth = 32, class Op, class T>
__device__ __forceinline__ T inclusive_scan(T value, const Op& op, unsigned mask = kAllLanes) {
  const int lane = ptx::lane_id(), place = lane - first_lane<kWidth>();
  if (is_whole<kWidth>(mask)) {
    WARPLADDER_UNROLL
    for (int distance = 1; distance < kWidth; distance *= 2) {
      const T before = read(value, place < distance ? lane : lane - distance, mask);
      if (place >= distance) value = combine(op, before, value);
    }
    return value;
  }
  // The member 1, 2, 4, … members back, whose value is added next; -1 if there are not so many.
  int from = member_before<kWidth>(mask);
  WARPLADDER_UNROLL
  for (int distance = 1; distance < kWidth; distance *= 2) {
    const int source = from < 0 ? lane : from;
    const T before = read(value, source, mask);
    if (from >= 0) value = combine(op, before, value);
    // The member twice as far back is as far back from there.
    if (2 * distance < kWidth) from = read(from, source, mask);
  }
  return value;
}

// The same without the member's own value: each gets op over `initial` and the values before its
// own. The first member of a segment gets `initial`. One shuffle more.
template <int kWidth = 32, class Op, class T>
__device__ __forceinline__ T exclusive_scan(T value, T initial, const Op& op,
                                            unsigned mask = kAllLanes) {
  const T inclusive = inclusive_scan<kWidth>(value, op, mask);
  const int from = member_before<kWidth>(mask);
  const T before = read(inclusive, from < 0 ? ptx::lane_id() : from, mask);
  return from < 0 ? initial : combine(op, initial, before);
}

// Every member gets op over the values of all members of its segment, the same in each.
// log2(kWidth) shuffles if the mask is whole, else 2·log2(kWidth).
template <int kWidth = 32, class Op, class T>
__device__ __forceinline__ T reduce(T value, const Op& op, unsigned mask = kAllLanes) {
  if (is_whole<kWidth>(mask)) {
    WARPLADDER_UNROLL
    for (int bits = 1; bits < kWidth; bits *= 2) {
      value = combine(op, value, read(value, ptx::lane_id() ^ bits, mask));
    }
    return value;
  }
  value = inclusive_scan<kWidth>(value, op, mask);
  const unsigned segment = kAllLanes >> (32 - kWidth) << first_lane<kWidth>();
  return read(value, 31 - __clz(static_cast<int>(mask & segment)), mask);  // the last one's
}

// Called by whole warps: all get the greatest value, or the sum. An instruction (redux) from
// compute capability 8.0 on, before it five shuffles.
__device__ __forceinline__ unsigned greatest(unsigned value) {
#if defined(__CUDACC__) && __CUDA_ARCH__ < 800
  return reduce(value, Max());
#else
  return __reduce_max_sync(kAllLanes, value);
#endif
}
__device__ __forceinline__ unsigned sum(unsigned value) {
#if defined(__CUDACC__) && __CUDA_ARCH__ < 800
  return reduce(value, Sum());
#else
  return __reduce_add_sync(kAllLanes, value);
#endif
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts::warp
