#pragma once
// Random numbers in kernels. Every generator is one that counts and mixes: the numbers are as good
// as cuRAND's for a simulation, and not the same.

#include <cmath>

#include "simt/vectors.hpp"

struct curandState {
  unsigned long long key, count;
};
typedef curandState curandState_t;
typedef curandState curandStateXORWOW;
typedef curandState curandStateXORWOW_t;
typedef curandState curandStateMRG32k3a;
typedef curandState curandStateMRG32k3a_t;
typedef curandState curandStatePhilox4_32_10;
typedef curandState curandStatePhilox4_32_10_t;

namespace simt {
// A mixer of 64 bits in two multiplications.
SIMT_INLINE unsigned long long mixed(unsigned long long x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}
}  // namespace simt

SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long sequence,
                             unsigned long long offset, curandState* state) {
  state->key = simt::mixed(seed) ^ simt::mixed(~sequence);
  state->count = offset;
}
SIMT_INLINE void skipahead(unsigned long long n, curandState* state) { state->count += n; }
SIMT_INLINE unsigned curand(curandState* state) {
  return static_cast<unsigned>(simt::mixed(state->key + state->count++) >> 32);
}
// In (0, 1].
SIMT_INLINE float curand_uniform(curandState* state) {
  return static_cast<float>((curand(state) >> 8) + 1) * 0x1p-24f;
}
SIMT_INLINE double curand_uniform_double(curandState* state) {
  return (static_cast<double>(curand(state)) + 1) * 0x1p-32;
}
SIMT_INLINE double curand_normal_double(curandState* state) {
  const double radius = sqrt(-2 * log(curand_uniform_double(state)));
  return radius * cos(6.283185307179586 * curand_uniform_double(state));
}
SIMT_INLINE float curand_normal(curandState* state) {
  return static_cast<float>(curand_normal_double(state));
}
SIMT_INLINE float curand_log_normal(curandState* state, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(state));
}
SIMT_INLINE float2 curand_normal2(curandState* state) {
  const float first = curand_normal(state);
  return {first, curand_normal(state)};
}
// Braces: the elements are drawn from left to right.
SIMT_INLINE uint4 curand4(curandState* s) { return {curand(s), curand(s), curand(s), curand(s)}; }
SIMT_INLINE float4 curand_uniform4(curandState* s) {
  return {curand_uniform(s), curand_uniform(s), curand_uniform(s), curand_uniform(s)};
}
SIMT_INLINE float4 curand_normal4(curandState* s) {
  return {curand_normal(s), curand_normal(s), curand_normal(s), curand_normal(s)};
}
