#pragma once
// The inner step of a register-tiled product, and how its result leaves the registers.

#include "runtime/kernel.hpp"

namespace warpladder::parts {
inline namespace WARPLADDER_FLAVOUR {

// Four neighbouring words of shared memory in one request; `from` is a multiple of 16 bytes.
__device__ __forceinline__ void load4(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x;
  to[1] = v.y;
  to[2] = v.z;
  to[3] = v.w;
}

// sum[i][j] += a[i] · b[j]
template <int kRows, int kColumns>
__device__ __forceinline__ void add_outer_product(float (&sum)[kRows][kColumns],
                                                  const float (&a)[kRows],
                                                  const float (&b)[kColumns]) {
  WARPLADDER_UNROLL
  for (int i = 0; i < kRows; ++i) {
    WARPLADDER_UNROLL
    for (int j = 0; j < kColumns; ++j) sum[i][j] += a[i] * b[j];
  }
}

// What happens to an element of C before it is stored: nothing.
struct AsItIs {
  __device__ __forceinline__ float operator()(float x) const { return x; }
};

// *c = finish(alpha·sum + beta·*c), in the arithmetic of the sum. beta == 0 never reads c.
template <class Sum, class Finish = AsItIs>
__device__ __forceinline__ void store1(float* c, std::type_identity_t<Sum> alpha, Sum sum,
                                       std::type_identity_t<Sum> beta, Finish finish = {}) {
  *c = finish(static_cast<float>(beta == 0 ? alpha * sum : alpha * sum + beta * *c));
}

// The same for the four columns from c on, of which `left` exist. kVector: 4 when c is a multiple
// of 16 bytes, else 1.
template <int kVector, class Sum, class Finish = AsItIs>
__device__ __forceinline__ void store4(float* c, std::int64_t left, std::type_identity_t<Sum> alpha,
                                       const Sum* sum, std::type_identity_t<Sum> beta,
                                       Finish finish = {}) {
  const auto to_float = [&](Sum value) { return finish(static_cast<float>(value)); };
  if (kVector == 4 && left >= 4) {
    Sum v[4] = {alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]};
    if (beta != 0) {
      const float4 old = *reinterpret_cast<const float4*>(c);
      v[0] += beta * old.x;
      v[1] += beta * old.y;
      v[2] += beta * old.z;
      v[3] += beta * old.w;
    }
    *reinterpret_cast<float4*>(c) =
        make_float4(to_float(v[0]), to_float(v[1]), to_float(v[2]), to_float(v[3]));
    return;
  }
  WARPLADDER_UNROLL_ON_GPU
  for (int j = 0; j < 4; ++j) {
    if (j < left) store1(c + j, alpha, sum[j], beta, finish);
  }
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::parts
