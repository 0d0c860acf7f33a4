#pragma once
// cub's collectives of a warp, or of a power of two of its lanes: on shuffles.

#include "simt/cub/common.hpp"

namespace cub {

// What WarpReduce, WarpScan and the block's collectives are made of. `width` lanes take part.
template <int width>
struct Lanes {
  static SIMT_INLINE int rank() { return static_cast<int>(simt::lane()) % width; }
  static SIMT_INLINE unsigned mask() {
    if (width == 32) return lanes_there();
    const unsigned first = simt::lane() / width * width;
    return (((1u << width % 32) - 1) << first) & lanes_there();
  }
  // In the lowest lane: the first `valid` values together.
  template <class T, class Op>
  static SIMT_INLINE T reduce(T value, Op op, int valid) {
    for (int step = 1; step < width; step *= 2) {
      const T other = __shfl_down_sync(mask(), value, static_cast<unsigned>(step), width);
      if (rank() + step < valid) value = apply_of<T>(op, value, other);
    }
    return value;
  }
  template <class T, class Op>
  static SIMT_INLINE T inclusive(T value, Op op) {
    for (int step = 1; step < width; step *= 2) {
      const T other = __shfl_up_sync(mask(), value, static_cast<unsigned>(step), width);
      if (rank() >= step) value = apply_of<T>(op, other, value);
    }
    return value;
  }
  template <class T>
  static SIMT_INLINE T before(T value) {
    return __shfl_up_sync(mask(), value, 1u, width);
  }
  template <class T>
  static SIMT_INLINE T from(T value, int lane) {
    return __shfl_sync(mask(), value, lane, width);
  }
  static SIMT_INLINE int last() {
    const int there = count_there();
    return (there < width ? there : width) - 1;
  }
};

template <class T, int width = 32, int arch = 0>
class WarpReduce {
 public:
  using TempStorage = Room<T, 1>;
  SIMT_INLINE WarpReduce(TempStorage&) {}
  template <class Op>
  SIMT_INLINE T Reduce(T value, Op op) {
    return Lanes<width>::reduce(value, op, Lanes<width>::last() + 1);
  }
  template <class Op>
  SIMT_INLINE T Reduce(T value, Op op, int valid) {
    return Lanes<width>::reduce(value, op, valid);
  }
  SIMT_INLINE T Sum(T value) { return Reduce(value, cub::Sum()); }
  SIMT_INLINE T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
  SIMT_INLINE T Max(T value) { return Reduce(value, cub::Max()); }
  SIMT_INLINE T Min(T value) { return Reduce(value, cub::Min()); }
};

template <class T, int width = 32, int arch = 0>
class WarpScan {
 public:
  using TempStorage = Room<T, 1>;
  SIMT_INLINE WarpScan(TempStorage&) {}
  template <class Op>
  SIMT_INLINE void InclusiveScan(T in, T& out, Op op) {
    out = Lanes<width>::inclusive(in, op);
  }
  template <class Op>
  SIMT_INLINE void InclusiveScan(T in, T& out, Op op, T& all) {
    InclusiveScan(in, out, op);
    all = Lanes<width>::from(out, Lanes<width>::last());
  }
  template <class Op>
  SIMT_INLINE void ExclusiveScan(T in, T& out, T start, Op op) {
    const T before = Lanes<width>::before(Lanes<width>::inclusive(in, op));
    out = Lanes<width>::rank() ? apply_of<T>(op, start, before) : start;
  }
  template <class Op>
  SIMT_INLINE void ExclusiveScan(T in, T& out, T start, Op op, T& all) {
    all = Lanes<width>::from(Lanes<width>::inclusive(in, op), Lanes<width>::last());
    ExclusiveScan(in, out, start, op);
  }
  template <class Op>
  SIMT_INLINE void ExclusiveScan(T in, T& out, Op op) {
    out = Lanes<width>::before(Lanes<width>::inclusive(in, op));
  }
  SIMT_INLINE void InclusiveSum(T in, T& out) { InclusiveScan(in, out, Sum()); }
  SIMT_INLINE void InclusiveSum(T in, T& out, T& all) { InclusiveScan(in, out, Sum(), all); }
  SIMT_INLINE void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), Sum()); }
  SIMT_INLINE void ExclusiveSum(T in, T& out, T& all) { ExclusiveScan(in, out, T(), Sum(), all); }
  SIMT_INLINE T Broadcast(T value, unsigned lane) {
    return Lanes<width>::from(value, static_cast<int>(lane));
  }
};

template <class T, int items, int width = 32, class... Ignored>
class WarpExchange {
 public:
  using TempStorage = Room<T, items * width>;
  SIMT_INLINE WarpExchange(TempStorage& room) : at_(room.items()) {}
  template <class U>
  SIMT_INLINE void BlockedToStriped(const T (&in)[items], U (&out)[items]) {
    const int rank = Lanes<width>::rank();
    for (int i = 0; i < items; ++i) at_[rank * items + i] = in[i];
    __syncwarp(Lanes<width>::mask());
    for (int i = 0; i < items; ++i) out[i] = at_[i * width + rank];
  }
  template <class U>
  SIMT_INLINE void StripedToBlocked(const T (&in)[items], U (&out)[items]) {
    const int rank = Lanes<width>::rank();
    for (int i = 0; i < items; ++i) at_[i * width + rank] = in[i];
    __syncwarp(Lanes<width>::mask());
    for (int i = 0; i < items; ++i) out[i] = at_[rank * items + i];
  }

 private:
  T* at_;
};

}  // namespace cub
