#pragma once
// cub's reductions and scans of a block: of each warp by shuffles, of the warps in shared memory.

#include "simt/cub/warp.hpp"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int x, BlockReduceAlgorithm algorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1,
          int z = 1, int arch = 0>
class BlockReduce {
  static constexpr int kThreads = x * y * z, kWarps = (kThreads + 31) / 32;

 public:
  using TempStorage = Room<T, kWarps>;
  SIMT_INLINE BlockReduce(TempStorage& room) : of_warps_(room.items()) {}
  SIMT_INLINE BlockReduce() : of_warps_(own()) {}

  // The result is thread 0's.
  template <class Op>
  SIMT_INLINE T Reduce(T value, Op op, int valid) {
    const int first = static_cast<int>(simt::warp()) * 32;
    const int here = valid - first < 32 ? valid - first : 32;
    value = Lanes<32>::reduce(value, op, here);
    if (simt::lane() == 0) of_warps_[simt::warp()] = value;
    __syncthreads();
    if (simt::thread_rank() == 0) {
      for (int w = 1; w * 32 < valid && w < kWarps; ++w)
        value = apply_of<T>(op, value, of_warps_[w]);
    }
    return value;
  }
  template <class Op>
  SIMT_INLINE T Reduce(T value, Op op) {
    return Reduce(value, op, kThreads);
  }
  template <class Op, int items>
  SIMT_INLINE T Reduce(T (&values)[items], Op op) {
    T sum = values[0];
    for (int i = 1; i < items; ++i) sum = apply_of<T>(op, sum, values[i]);
    return Reduce(sum, op);
  }
  SIMT_INLINE T Sum(T value) { return Reduce(value, cub::Sum()); }
  SIMT_INLINE T Sum(T value, int valid) { return Reduce(value, cub::Sum(), valid); }
  template <int items>
  SIMT_INLINE T Sum(T (&values)[items]) {
    return Reduce(values, cub::Sum());
  }

 private:
  static SIMT_INLINE T* own() {
    __shared__ TempStorage room;
    return room.items();
  }
  T* of_warps_;
};

template <class T, int x, BlockScanAlgorithm algorithm = BLOCK_SCAN_RAKING, int y = 1, int z = 1,
          int arch = 0>
class BlockScan {
  static constexpr int kThreads = x * y * z, kWarps = (kThreads + 31) / 32;

 public:
  using TempStorage = Room<T, kWarps + 1>;
  SIMT_INLINE BlockScan(TempStorage& room) : of_warps_(room.items()) {}
  SIMT_INLINE BlockScan() : of_warps_(own()) {}

  template <class Op>
  SIMT_INLINE void InclusiveScan(T in, T& out, Op op, T& all) {
    const int warp = static_cast<int>(simt::warp());
    T sum = Lanes<32>::inclusive(in, op);
    if (static_cast<int>(simt::lane()) == Lanes<32>::last()) of_warps_[warp] = sum;
    __syncthreads();
    T before = of_warps_[0];
    all = before;
    for (int w = 1; w < kWarps; ++w) {
      all = apply_of<T>(op, all, of_warps_[w]);
      if (w < warp) before = all;
    }
    out = warp ? apply_of<T>(op, before, sum) : sum;
  }
  // `has_start`: else thread 0's result is undefined, as in cub.
  template <class Op>
  SIMT_INLINE void exclusive(T in, T& out, T start, bool has_start, Op op, T& all) {
    const int warp = static_cast<int>(simt::warp());
    const T sum = Lanes<32>::inclusive(in, op);
    const T before = Lanes<32>::before(sum);
    if (static_cast<int>(simt::lane()) == Lanes<32>::last()) of_warps_[warp] = sum;
    __syncthreads();
    T of_earlier = of_warps_[0];
    all = of_earlier;
    for (int w = 1; w < kWarps; ++w) {
      all = apply_of<T>(op, all, of_warps_[w]);
      if (w < warp) of_earlier = all;
    }
    if (has_start) {
      of_earlier = warp ? apply_of<T>(op, start, of_earlier) : start;
    }
    if (simt::lane() == 0) {
      out = of_earlier;
    } else {
      out = warp || has_start ? apply_of<T>(op, of_earlier, before) : before;
    }
  }
  template <class Op>
  SIMT_INLINE void InclusiveScan(T in, T& out, Op op) {
    T all;
    InclusiveScan(in, out, op, all);
  }
  template <class Op>
  SIMT_INLINE void ExclusiveScan(T in, T& out, T start, Op op, T& all) {
    exclusive(in, out, start, true, op, all);
  }
  template <class Op>
  SIMT_INLINE void ExclusiveScan(T in, T& out, T start, Op op) {
    T all;
    exclusive(in, out, start, true, op, all);
  }
  template <class Op>
  SIMT_INLINE void ExclusiveScan(T in, T& out, Op op) {
    T all;
    exclusive(in, out, in, false, op, all);
  }
  SIMT_INLINE void InclusiveSum(T in, T& out) { InclusiveScan(in, out, Sum()); }
  SIMT_INLINE void InclusiveSum(T in, T& out, T& all) { InclusiveScan(in, out, Sum(), all); }
  SIMT_INLINE void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), Sum()); }
  SIMT_INLINE void ExclusiveSum(T in, T& out, T& all) { ExclusiveScan(in, out, T(), Sum(), all); }

  // The first warp asks `prefix` for what comes before the block's first item.
  template <class Op, class Prefix, class = decltype(std::declval<Prefix&>()(std::declval<T>()))>
  SIMT_INLINE void InclusiveScan(T in, T& out, Op op, Prefix& prefix) {
    T all, sum;
    InclusiveScan(in, sum, op, all);
    out = apply_of<T>(op, start_of(prefix, all), sum);
  }
  template <class Op, class Prefix, class = decltype(std::declval<Prefix&>()(std::declval<T>()))>
  SIMT_INLINE void ExclusiveScan(T in, T& out, Op op, Prefix& prefix) {
    T all, before;
    exclusive(in, before, in, false, op, all);
    const T start = start_of(prefix, all);
    out = simt::thread_rank() ? apply_of<T>(op, start, before) : start;
  }
  template <class Prefix, class = decltype(std::declval<Prefix&>()(std::declval<T>()))>
  SIMT_INLINE void InclusiveSum(T in, T& out, Prefix& prefix) {
    InclusiveScan(in, out, Sum(), prefix);
  }
  template <class Prefix, class = decltype(std::declval<Prefix&>()(std::declval<T>()))>
  SIMT_INLINE void ExclusiveSum(T in, T& out, Prefix& prefix) {
    ExclusiveScan(in, out, Sum(), prefix);
  }

  // Of several items a thread.
  template <int items, class Op, class... More>
  SIMT_INLINE void InclusiveScan(T (&in)[items], T (&out)[items], Op op, More&... more) {
    T sum = in[0], before;
    for (int i = 1; i < items; ++i) sum = apply_of<T>(op, sum, in[i]);
    ExclusiveScan(sum, before, op, more...);
    constexpr bool has_prefix = (... || !std::is_same_v<More, T>);
    sum = has_prefix || simt::thread_rank() ? apply_of<T>(op, before, in[0]) : in[0];
    out[0] = sum;
    for (int i = 1; i < items; ++i) out[i] = sum = apply_of<T>(op, sum, in[i]);
  }
  template <int items, class Op, class... More>
  SIMT_INLINE void ExclusiveScan(T (&in)[items], T (&out)[items], T start, Op op, More&... more) {
    T sum = in[0], before;
    for (int i = 1; i < items; ++i) sum = apply_of<T>(op, sum, in[i]);
    ExclusiveScan(sum, before, start, op, more...);
    finish(in, out, before, op);
  }
  template <int items>
  SIMT_INLINE void InclusiveSum(T (&in)[items], T (&out)[items]) {
    InclusiveScan(in, out, Sum());
  }
  template <int items>
  SIMT_INLINE void InclusiveSum(T (&in)[items], T (&out)[items], T& all) {
    T sum = in[0], before;
    for (int i = 1; i < items; ++i) sum += in[i];
    ExclusiveSum(sum, before, all);
    for (int i = 0; i < items; ++i) out[i] = before += in[i];
  }
  template <int items, class... More>
  SIMT_INLINE void ExclusiveSum(T (&in)[items], T (&out)[items], More&... more) {
    T sum = in[0], before;
    for (int i = 1; i < items; ++i) sum += in[i];
    ExclusiveSum(sum, before, more...);
    finish(in, out, before, Sum());
  }

 private:
  template <int items, class Op>
  static SIMT_INLINE void finish(T (&in)[items], T (&out)[items], T before, Op op) {
    for (int i = 0; i < items; ++i) {
      const T next = apply_of<T>(op, before, in[i]);  // `out` may be `in`
      out[i] = before;
      before = next;
    }
  }
  template <class Prefix>
  SIMT_INLINE T start_of(Prefix& prefix, T all) {
    if (simt::warp() == 0) {
      const T start = prefix(all);
      if (simt::lane() == 0) of_warps_[kWarps] = start;
    }
    __syncthreads();
    return of_warps_[kWarps];
  }
  static SIMT_INLINE T* own() {
    __shared__ TempStorage room;
    return room.items();
  }
  T* of_warps_;
};

}  // namespace cub
