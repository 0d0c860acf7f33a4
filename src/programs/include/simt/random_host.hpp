#pragma once

#include "simt/random.hpp"
#include "simt/runtime_api.hpp"

enum curandStatus_t {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999
};
#define CURAND_H_  // by which other headers tell that cuRAND is there

enum curandRngType_t {
  CURAND_RNG_PSEUDO_DEFAULT = 100,
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_MRG32K3A = 121,
  CURAND_RNG_PSEUDO_MTGP32 = 141,
  CURAND_RNG_PSEUDO_MT19937 = 142,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161
};
typedef curandState* curandGenerator_t;

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t) {
  *generator = new curandState{0, 0};
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                                curandRngType_t type) {
  return curandCreateGenerator(generator, type);
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
  curand_init(seed, 0, 0, generator);
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) {
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
// The values go to memory that host code must not touch, in copies of a part.
template <class T, class Draw>
curandStatus_t simt_generate(T* to, std::size_t n, Draw draw) {
  constexpr std::size_t kPart = 4096;
  T part[kPart];
  for (std::size_t at = 0; at < n; at += kPart) {
    const std::size_t count = n - at < kPart ? n - at : kPart;
    for (std::size_t i = 0; i < count; ++i) part[i] = draw();
    cudaMemcpy(to + at, part, count * sizeof(T), cudaMemcpyDefault);
  }
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerate(curandGenerator_t g, unsigned* to, std::size_t n) {
  return simt_generate(to, n, [=] { return curand(g); });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t g, float* to, std::size_t n) {
  return simt_generate(to, n, [=] { return curand_uniform(g); });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double* to, std::size_t n) {
  return simt_generate(to, n, [=] { return curand_uniform_double(g); });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t g, float* to, std::size_t n,
                                           float mean, float deviation) {
  return simt_generate(to, n, [=] { return mean + deviation * curand_normal(g); });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double* to, std::size_t n,
                                                 double mean, double deviation) {
  return simt_generate(to, n, [=] { return mean + deviation * curand_normal_double(g); });
}
