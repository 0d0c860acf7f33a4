#pragma once
// Sums across lines in memory, each line times its element of a vector: a block has a strip of
// 4·lanes columns. Its threads fall into groups of `lanes` neighbours, a power of two up to 32.
// Each thread has four columns, and each group takes four lines at a time, group after group.

#include "parts/multiply_add.hpp"
#include "parts/ptx/load.hpp"
#include "parts/warp.hpp"
#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kColumnsOfThread = 4;

// Where a thread's columns lie in the strip. kVectors: four neighbours, and x is read by four
// elements, too. Otherwise they are `lanes` apart, so that the lanes' words are neighbours. For
// columns that are not there the first is read again, and what comes of it is never stored.
template <bool kVectors>
struct StripColumns {
  int first, apart[kColumnsOfThread];

  __device__ __forceinline__ StripColumns(int lane, int lanes, std::int64_t columns) {
    first = kVectors ? kColumnsOfThread * lane : lane;
    WARPLADDER_UNROLL
    for (int k = 0; k < kColumnsOfThread; ++k) {
      apart[k] = first + k * lanes < columns ? k * lanes : 0;
    }
  }
  __device__ __forceinline__ float4 load(const float* at) const {
    if constexpr (kVectors) return ptx::load_once(reinterpret_cast<const float4*>(at));
    return make_float4(__ldg(at), __ldg(at + apart[1]), __ldg(at + apart[2]), __ldg(at + apart[3]));
  }
};

// The thread's four sums over `lines` lines, ld apart, of which it adds up four first: fewer
// additions in a row lose less. `a` is the strip's first element of the first of them; `columns` ≥
// 1 is how far the line goes on from there. kVectors: a and x begin on 16 bytes, ld and columns are
// multiples of 4, incx is 1.
template <int kThreads, bool kVectors>
__device__ __forceinline__ float4 add_lines(const float* a, std::int64_t ld, std::int64_t columns,
                                            const float* x, std::int64_t incx, std::int64_t lines,
                                            int lanes_log2) {
  constexpr int kLines = 4;
  const int lanes = 1 << lanes_log2, group = threadIdx.x >> lanes_log2;
  const int step = kLines * (kThreads >> lanes_log2);
  const StripColumns<kVectors> mine(threadIdx.x & (lanes - 1), lanes, columns);
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (mine.first >= columns) return sum;
  a += mine.first + kLines * group * ld;
  x += kLines * group * incx;
  std::int64_t left = lines - kLines * group;
  WARPLADDER_NO_UNROLL
  for (; left >= kLines; left -= step) {
    float4 held[kLines], with;
    WARPLADDER_UNROLL
    for (int i = 0; i < kLines; ++i) held[i] = mine.load(a + i * ld);
    if constexpr (kVectors) {
      with = __ldg(reinterpret_cast<const float4*>(x));
    } else {
      with = make_float4(__ldg(x), __ldg(x + incx), __ldg(x + 2 * incx), __ldg(x + 3 * incx));
    }
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    add_scaled(four, held[0], with.x);
    add_scaled(four, held[1], with.y);
    add_scaled(four, held[2], with.z);
    add_scaled(four, held[3], with.w);
    sum = warp::combine(warp::Sum(), sum, four);
    a += step * ld;
    x += step * incx;
  }
  WARPLADDER_NO_UNROLL
  for (; left > 0; --left) {  // up to three, of one group
    add_scaled(sum, mine.load(a), __ldg(x));
    a += ld;
    x += incx;
  }
  return sum;
}

// Column t of the strip over all groups of the block, in thread t < 4·lanes. Called by every
// thread.
template <int kThreads, bool kVectors>
__device__ __forceinline__ float add_up_groups(float4 sum, int lanes_log2) {
  static_assert(kThreads % 128 == 0);   // warps are added up by fours
  __shared__ float4 of_warp[kThreads];  // 4·lanes floats a warp
  float* const value = reinterpret_cast<float*>(of_warp);
  const int lanes = 1 << lanes_log2, width = kColumnsOfThread * lanes;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, t = threadIdx.x;
  WARPLADDER_NO_UNROLL
  for (int bits = lanes; bits < 32; bits *= 2) {
    sum = warp::combine(warp::Sum(), sum, warp::exchange(sum, bits));
  }
  if (lane < lanes) {
    if constexpr (kVectors) {
      of_warp[warp * lanes + lane] = sum;
    } else {
      value[warp * width + lane] = sum.x;
      value[warp * width + lane + lanes] = sum.y;
      value[warp * width + lane + 2 * lanes] = sum.z;
      value[warp * width + lane + 3 * lanes] = sum.w;
    }
  }
  __syncthreads();  // the warps' sums are there before threads take up what others have brought
  float total = 0.0f;
  if (t < width) {
    WARPLADDER_UNROLL
    for (int w = 0; w < kThreads / 32; w += 4) {  // four at a time, which loses less
      const float* const four = value + w * width + t;
      total += (four[0] + four[width]) + (four[2 * width] + four[3 * width]);
    }
  }
  return total;
}

// The products of one column with x: of the lines first, first + step, … below `lines`, ld apart.
// Lanes with neighbouring columns read neighbours. Lanes of one column walk down it side by side,
// and read a sector each for four bytes. Only small matrices can afford that.
__device__ __forceinline__ float add_column(const float* a, std::int64_t ld, const float* x,
                                            std::int64_t incx, std::int64_t lines,
                                            std::int64_t first, int step) {
  constexpr int kLines = 4;
  float sum = 0.0f;
  WARPLADDER_NO_UNROLL
  for (; first < lines; first += kLines * step) {
    float held[kLines], with[kLines];
    WARPLADDER_UNROLL
    for (int i = 0; i < kLines; ++i) {
      const std::int64_t line = first + i * step;
      held[i] = line < lines ? __ldg(a + line * ld) : 0.0f;
      with[i] = line < lines ? __ldg(x + line * incx) : 0.0f;
    }
    WARPLADDER_UNROLL
    for (int i = 0; i < kLines; ++i) {
      if (first + i * step < lines) sum = fmaf(held[i], with[i], sum);
    }
  }
  return sum;
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
