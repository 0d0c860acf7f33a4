#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

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

// The order of cuRAND's host API: neighbours in memory come from neighbouring sequences. XORWOW has
// 4,096 of them, of which each gives a number, or two normal ones. Philox has 65,536, of which each
// gives four numbers. The other types have one sequence, and their numbers are not cuRAND's.
template <class State, unsigned kSequences, unsigned kAtOnce>
class SimtSequences {
 public:
  SimtSequences(unsigned long long seed, unsigned long long offset)
      : next_(static_cast<unsigned>(offset / kAtOnce % kSequences)),
        given_(static_cast<unsigned>(offset % kAtOnce)) {
    states_.resize(kSequences);
    const unsigned long long rounds = offset / kAtOnce / kSequences;
    for (unsigned i = 0; i < kSequences; ++i) {
      const unsigned long long own = (rounds + (i < next_)) * kAtOnce + (i == next_ ? given_ : 0);
      curand_init(seed, i, own, &states_[i]);
    }
  }
  // That of the next `numbers` ones.
  State* next(unsigned numbers) {
    State* const now = &states_[next_];
    given_ += numbers;
    if (given_ >= kAtOnce) {
      given_ = 0;
      next_ = next_ + 1 == kSequences ? 0 : next_ + 1;
    }
    return now;
  }

 private:
  std::vector<State> states_;
  unsigned next_, given_;  // the sequence, and how many of its numbers in this round
};
typedef SimtSequences<curandStateXORWOW, 4096, 1> SimtXorwow;
typedef SimtSequences<curandStatePhilox4_32_10, 65536, 4> SimtPhilox;
typedef SimtSequences<curandStateMRG32k3a, 1, 1> SimtOther;

struct curandGenerator_st {
  curandRngType_t type;
  unsigned long long seed = 0, offset = 0;
  SimtXorwow* xorwow = nullptr;
  SimtPhilox* philox = nullptr;
  SimtOther* other = nullptr;
  void forget() {
    delete xorwow, delete philox, delete other;
    xorwow = nullptr, philox = nullptr, other = nullptr;
  }
  // Calls draw(sequences) with those of the type, which begin when they are first asked for.
  template <class Draw>
  void with_sequences(const Draw& draw) {
    const auto run = [&](auto*& sequences) {
      using Sequences = typename std::remove_reference<decltype(*sequences)>::type;
      if (!sequences) sequences = new Sequences(seed, offset);
      draw(*sequences);
    };
    if (type == CURAND_RNG_PSEUDO_DEFAULT || type == CURAND_RNG_PSEUDO_XORWOW) {
      run(xorwow);
    } else if (type == CURAND_RNG_PSEUDO_PHILOX4_32_10) {
      run(philox);
    } else {
      run(other);
    }
  }
};
typedef curandGenerator_st* curandGenerator_t;

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  *generator = new curandGenerator_st{type};
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                                curandRngType_t type) {
  return curandCreateGenerator(generator, type);
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
  generator->forget();
  generator->seed = seed;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                               unsigned long long offset) {
  generator->forget();
  generator->offset = offset;
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) {
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  generator->forget();
  delete generator;
  return CURAND_STATUS_SUCCESS;
}

// The values go to memory that host code must not touch, in copies of a part. draw(state, values)
// makes kNumbers at a time.
template <unsigned kNumbers, class T, class Draw>
curandStatus_t simt_generate(curandGenerator_t g, T* to, std::size_t n, const Draw& draw) {
  if (n % kNumbers != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  constexpr std::size_t kPart = 4096;
  T part[kPart];
  g->with_sequences([&](auto& sequences) {
    for (std::size_t at = 0; at < n; at += kPart) {
      const std::size_t count = n - at < kPart ? n - at : kPart;
      for (std::size_t i = 0; i < count; i += kNumbers) draw(sequences.next(kNumbers), part + i);
      cudaMemcpy(to + at, part, count * sizeof(T), cudaMemcpyDefault);
    }
  });
  return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerate(curandGenerator_t g, unsigned* to, std::size_t n) {
  return simt_generate<1>(g, to, n, [](auto* state, unsigned* out) { *out = curand(state); });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t g, float* to, std::size_t n) {
  return simt_generate<1>(g, to, n, [](auto* state, float* out) { *out = curand_uniform(state); });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double* to, std::size_t n) {
  return simt_generate<1>(g, to, n, [](auto* state, double* out) {
    const unsigned x = curand(state);
    *out = simt::uniform(x, curand(state));
  });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t g, float* to, std::size_t n,
                                           float mean, float deviation) {
  return simt_generate<2>(g, to, n, [=](auto* state, float* out) {
    const float2 two = curand_normal2(state);
    out[0] = mean + deviation * two.x, out[1] = mean + deviation * two.y;
  });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double* to, std::size_t n,
                                                 double mean, double deviation) {
  return simt_generate<2>(g, to, n, [=](auto* state, double* out) {
    const double2 two = curand_normal2_double(state);
    out[0] = mean + deviation * two.x, out[1] = mean + deviation * two.y;
  });
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float* to, std::size_t n,
                                              float mean, float deviation) {
  return simt_generate<2>(g, to, n, [=](auto* state, float* out) {
    const float2 two = curand_log_normal2(state, mean, deviation);
    out[0] = two.x, out[1] = two.y;
  });
}
inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double* to, std::size_t n,
                                                    double mean, double deviation) {
  return simt_generate<2>(g, to, n, [=](auto* state, double* out) {
    const double2 two = curand_log_normal2_double(state, mean, deviation);
    out[0] = two.x, out[1] = two.y;
  });
}
