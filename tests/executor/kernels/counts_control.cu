// Lanes that part and meet again, with counts that can be derived by hand
// (counts_control_test.cpp). One warp unless the test says otherwise; row i of an input is its
// words 32·i … 32·i + 31.

#include "kernels/kernel.hpp"

namespace warpladder::kernel_tests {
namespace {

constexpr unsigned kWholeWarp = 0xffffffffu;

__device__ __forceinline__ int lane_of_warp() { return static_cast<int>(threadIdx.x % 32); }

__global__ void one_sided_if(const float* a, const float* b, float* out) {
  const int t = lane_of_warp();
  float s = a[t];             // COUNT: before if
  if (t % 4 == 1) s += b[t];  // COUNT: in if
  out[t] = s;                 // COUNT: after if
}
WARPLADDER_TEST_KERNEL(one_sided_if);

__global__ void two_sided_if(const float* a, const float* b, float* out) {
  const int t = lane_of_warp();
  float s;
  if (t < 8) {
    s = 2.0f * a[t];  // COUNT: then
  } else {
    s = b[t] - 1.0f;  // COUNT: else
  }
  out[t] = s;  // COUNT: after both
}
WARPLADDER_TEST_KERNEL(two_sided_if);

__global__ void four_ways(const float* a, float* out) {
  const int t = lane_of_warp();
  float s = 0.0f;
  switch (t % 4) {
    case 0:
      s = a[t];  // COUNT: case 0
      break;
    case 1:
      s = a[32 + t] * 3.0f;  // COUNT: case 1
      break;
    case 2:
      s = a[64 + t] - 5.0f;  // COUNT: case 2
      break;
    default:
      s = a[96 + t] + 7.0f;  // COUNT: default
      break;
  }
  out[t] = s;  // COUNT: after switch
}
WARPLADDER_TEST_KERNEL(four_ways);

__global__ void if_in_loop(const float* a, const float* b, float* out) {
  const int t = lane_of_warp();
  float s = 0.0f;
  for (int i = 0; i < 8; ++i) {
    s += a[32 * i + t];                   // COUNT: every round
    if ((t + i) % 2) s -= b[32 * i + t];  // COUNT: odd rounds
  }
  out[t] = s;  // COUNT: after if in loop
}
WARPLADDER_TEST_KERNEL(if_in_loop);

__global__ void nested_loops(const float* a, float* out) {
  const int t = lane_of_warp();
  float s = 0.0f;
  for (int i = 0; i <= t % 4; ++i) {
    for (int j = 0; j < (7 * t + 3 * i) % 5; ++j) {
      s += a[32 * (8 * i + j) + t];  // COUNT: inner
    }
    s -= a[32 * i + t];  // COUNT: outer
  }
  out[t] = s;  // COUNT: after nest
}
WARPLADDER_TEST_KERNEL(nested_loops);

__global__ void leave_by_break(const float* a, float* out) {
  const int t = lane_of_warp();
  float s = 0.0f;
  for (int i = 0; i < 16; ++i) {
    const float v = a[32 * i + t];  // COUNT: before break
    if (i == t % 7) break;
    s += v;
  }
  out[t] = s;  // COUNT: after break
}
WARPLADDER_TEST_KERNEL(leave_by_break);

__global__ void skip_by_continue(const float* a, float* out) {
  const int t = lane_of_warp();
  float s = 0.0f;
  for (int i = 0; i < 9; ++i) {
    if ((t + i) % 3 == 0) continue;
    s += a[32 * i + t];  // COUNT: not skipped
  }
  out[t] = s;
}
WARPLADDER_TEST_KERNEL(skip_by_continue);

__global__ void early_return(const float* a, float* out) {
  const int t = lane_of_warp();
  const float s = a[t];  // COUNT: before return
  if (s < 0.0f || t >= 20) return;
  out[t] = s;  // COUNT: after return
}
WARPLADDER_TEST_KERNEL(early_return);

// Follows `next` until it points to itself.
__global__ void follow_chain(const int* next, int* out) {
  const int t = lane_of_warp();
  int at = t, steps = 0;
  while (true) {
    const int to = next[at];  // COUNT: chase
    if (to == at) break;
    at = to;
    ++steps;
  }
  out[t] = steps;  // COUNT: after chase
}
WARPLADDER_TEST_KERNEL(follow_chain);

// A loop that is left in two places, with an access after each.
__global__ void two_exits(const float* a, const float* b, float* out) {
  const int t = lane_of_warp();
  float s = 0.0f;
  for (int i = 0; i < 16; ++i) {
    s += a[32 * i + t];  // COUNT: first part
    if (i == t % 7) break;
    s -= b[32 * i + t];  // COUNT: second part
    if (i == t % 5 + 2) break;
  }
  out[t] = s;  // COUNT: after two exits
}
WARPLADDER_TEST_KERNEL(two_exits);

// The loads are the conditions: row i of `a` holds i, so lane t asks for t % 6 + 2 rows of it.
__global__ void load_in_condition(const float* a, const float* b, float* out) {
  const int t = lane_of_warp();
  int i = 0;
  while (a[32 * i + t] <= static_cast<float>(t % 6)) ++i;  // COUNT: while
  const float limit = static_cast<float>(i);
  if (limit > 3.0f && b[t] > 0.0f) out[32 + t] = limit;  // COUNT: short circuit
  out[t] = limit;                                        // COUNT: after conditions
}
WARPLADDER_TEST_KERNEL(load_in_condition);

// Lanes go left or right, but make as many steps: `count` is a power of two.
__global__ void binary_search(const int* sorted, const int* keys, int* out, int count) {
  const int t = lane_of_warp();
  const int key = keys[t];
  int low = 0, high = count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    const int there = sorted[middle];  // COUNT: probe
    if (there <= key) {
      low = middle;
    } else {
      high = middle;
    }
  }
  out[t] = low;  // COUNT: after search
}
WARPLADDER_TEST_KERNEL(binary_search);

// ---- longer than a lane's log: `rounds` in the tens of thousands

__global__ void long_uniform(const float* a, float* out, int rounds) {
  const int t = lane_of_warp();
  float s = 0.0f;
  for (int i = 0; i < rounds; ++i) s += a[i % 64 * 32 + t];  // COUNT: long uniform
  out[t] = s;                                                // COUNT: after long uniform
}
WARPLADDER_TEST_KERNEL(long_uniform);

// Lane t makes 600·t rounds fewer; all meet again for the common loop.
__global__ void long_parting(const float* a, float* out, int rounds, int common) {
  const int t = lane_of_warp();
  float s = 0.0f;
  for (int i = 0; i < rounds - 600 * t; ++i) {
    s += a[i % 64 * 32 + t];              // COUNT: parting
    if (i % 97 == t) s -= a[i % 8 * 32];  // COUNT: now and then
  }
  for (int i = 0; i < common; ++i) s += a[i % 16 * 32 + t];  // COUNT: together again
  out[t] = s;                                                // COUNT: after parting
}
WARPLADDER_TEST_KERNEL(long_parting);

// The halves are in different loops for long.
__global__ void long_halves(const float* a, float* out, int lower, int upper) {
  const int t = lane_of_warp();
  float s = 0.0f;
  if (t < 16) {
    for (int i = 0; i < lower; ++i) s += a[i % 64 * 32 + t];  // COUNT: lower half
  } else {
    for (int i = 0; i < upper; ++i) s -= a[i % 32 * 32 + t];  // COUNT: upper half
  }
  out[t] = s;  // COUNT: after halves
}
WARPLADDER_TEST_KERNEL(long_halves);

// Nested, both trip counts the lane's own, and left by a break.
__global__ void long_nest(const float* a, float* out, int rounds) {
  const int t = lane_of_warp();
  float s = 0.0f;
  for (int i = 0; i < rounds; ++i) {
    for (int j = 0; j <= (t + i) % 9; ++j) s += a[j * 32 + t];  // COUNT: long inner
    if (i == rounds - 1 - 10 * t) break;
    s -= a[t];  // COUNT: long outer
  }
  out[t] = s;  // COUNT: after long nest
}
WARPLADDER_TEST_KERNEL(long_nest);

// ---- what is not memory

// Fused multiply-adds of all four signs and both precisions, some in a branch, some in a loop of
// the lane's own length.
__global__ void fused(const float* a, const double* b, float* out) {
  const int t = lane_of_warp();
  const float x = a[t], y = a[32 + t];
  float s = x * y + 1.0f;  // COUNT: plus
  s = s * x - y;           // COUNT: minus
  s = y - s * x;           // COUNT: negated
  s = -(s * y) - x;        // COUNT: negated minus
  const double d = b[t];
  const double e = d * d + 0.5;                        // COUNT: double
  if (t < 11) s = fmaf(s, x, y);                       // COUNT: branch
  for (int i = 0; i < t; ++i) s = __fmaf_rn(s, x, y);  // COUNT: loop
  out[t] = s + static_cast<float>(e);
}
WARPLADDER_TEST_KERNEL(fused);

__global__ void divisions(const float* a, const double* b, float* out) {
  const int t = lane_of_warp();
  const float x = a[t], y = a[32 + t];
  const double d = b[t];
  const float s = x / y;   // COUNT: float division
  const double e = s / d;  // COUNT: double division
  out[t] = static_cast<float>(e);
}
WARPLADDER_TEST_KERNEL(divisions);

__global__ void barriers(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();  // COUNT: barrier
  }
}
WARPLADDER_TEST_KERNEL(barriers);

__global__ void exchanges(int* out) {
  const int t = lane_of_warp();
  int v = t;
  v += __shfl_xor_sync(kWholeWarp, v, 1, 8);  // COUNT: whole warp
  if (t < 16) {
    v += __shfl_down_sync(0x0000ffffu, v, 1, 16);  // COUNT: lower shuffle
  } else {
    for (int i = 0; i < 3; ++i) v += __shfl_up_sync(0xffff0000u, v, 1, 16);  // COUNT: upper shuffle
  }
  v += static_cast<int>(__ballot_sync(kWholeWarp, v & 1));  // COUNT: vote
  v += static_cast<int>(__reduce_add_sync(kWholeWarp, t));  // COUNT: reduction
  __syncwarp();                                             // COUNT: warp barrier
  v += __popc(__activemask());                              // COUNT: active mask
  out[threadIdx.x] = v;
}
WARPLADDER_TEST_KERNEL(exchanges);

}  // namespace
}  // namespace warpladder::kernel_tests
