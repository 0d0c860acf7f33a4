#pragma once
// Random numbers in kernels. XORWOW (Marsaglia 2003, curandState) and Philox4x32-10 (Salmon et al.
// 2011) give cuRAND's numbers for every seed, sequence and offset. MRG32k3a is another generator,
// whose numbers are as good for a simulation, and not cuRAND's.

#include <cmath>

#include "simt/vectors.hpp"

extern "C" {
// Moves XORWOW's five words n steps ahead, or n sequences of 2^67 steps.
void program_skip_random(unsigned* words, unsigned long long n, int in_sequences);
}

namespace simt {
// Of two numbers that are drawn at once, the second waits here for the next call of the same kind.
enum class Waiting { none, normal, log_normal };
struct WaitingNumbers {
  Waiting has_float, has_double;
  float single;
  double wide;
};
}  // namespace simt

struct curandStateXORWOW {
  unsigned words[5], counter;
  simt::WaitingNumbers waiting;
};
struct curandStatePhilox4_32_10 {
  uint4 counter, block;  // the block that the counter makes
  uint2 key;
  unsigned used;  // of the block's four words
  simt::WaitingNumbers waiting;
};
struct curandStateMRG32k3a {
  unsigned long long key, count;
  simt::WaitingNumbers waiting;
};
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;

// ---- XORWOW

constexpr unsigned kSimtWeyl = 362437;  // what XORWOW's counter grows by
SIMT_INLINE void skipahead(unsigned long long n, curandStateXORWOW* state) {
  program_skip_random(state->words, n, 0);
  state->counter += kSimtWeyl * static_cast<unsigned>(n);
}
SIMT_INLINE void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
  program_skip_random(state->words, n, 1);
}
SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long sequence,
                             unsigned long long offset, curandStateXORWOW* state) {
  const unsigned low = 1099087573u * (static_cast<unsigned>(seed) ^ 0xaad26b49u),
                 high = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xf7dcefddu);
  // Marsaglia's initial words, with the seed in them.
  *state = {
      {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low},
      6615241u + high + low,
      {}};
  skipahead_sequence(sequence, state);
  skipahead(offset, state);
}
SIMT_INLINE unsigned curand(curandStateXORWOW* state) {
  unsigned* const w = state->words;
  const unsigned t = w[0] ^ w[0] >> 2;
  w[0] = w[1], w[1] = w[2], w[2] = w[3], w[3] = w[4];
  w[4] = w[4] ^ w[4] << 4 ^ t ^ t << 1;
  return w[4] + (state->counter += kSimtWeyl);
}

// ---- Philox

namespace simt {
SIMT_INLINE uint4 philox(uint4 x, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long first = 0xd2511f53ull * x.x, second = 0xcd9e8d57ull * x.z;
    x = {static_cast<unsigned>(second >> 32) ^ x.y ^ key.x, static_cast<unsigned>(second),
         static_cast<unsigned>(first >> 32) ^ x.w ^ key.y, static_cast<unsigned>(first)};
    key.x += 0x9e3779b9u, key.y += 0xbb67ae85u;
  }
  return x;
}
// Adds to 64 bits of a counter; whether they ran over.
SIMT_INLINE bool add_to(unsigned& low, unsigned& high, unsigned long long n) {
  const unsigned long long before = static_cast<unsigned long long>(high) << 32 | low,
                           after = before + n;
  low = static_cast<unsigned>(after), high = static_cast<unsigned>(after >> 32);
  return after < before;
}
}  // namespace simt
SIMT_INLINE void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
  const unsigned long long words = state->used + (n & 3);
  uint4& c = state->counter;
  if (simt::add_to(c.x, c.y, n / 4 + words / 4)) simt::add_to(c.z, c.w, 1);
  state->used = words & 3;
  state->block = simt::philox(c, state->key);
}
SIMT_INLINE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
  simt::add_to(state->counter.z, state->counter.w, n);
  state->block = simt::philox(state->counter, state->key);
}
SIMT_INLINE void curand_init(unsigned long long seed, unsigned long long sequence,
                             unsigned long long offset, curandStatePhilox4_32_10* state) {
  *state = {{0, 0, static_cast<unsigned>(sequence), static_cast<unsigned>(sequence >> 32)},
            {},
            {static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32)},
            0,
            {}};
  skipahead(offset, state);
}
SIMT_INLINE unsigned curand(curandStatePhilox4_32_10* state) {
  const uint4 b = state->block;
  const unsigned used = state->used, word = used == 0   ? b.x
                                            : used == 1 ? b.y
                                            : used == 2 ? b.z
                                                        : b.w;
  if (used < 3) {
    state->used = used + 1;
  } else {
    skipahead(1, state);
  }
  return word;
}

// ---- another generator in the place of MRG32k3a

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
                             unsigned long long offset, curandStateMRG32k3a* state) {
  *state = {simt::mixed(seed) ^ simt::mixed(~sequence), offset, {}};
}
SIMT_INLINE void skipahead(unsigned long long n, curandStateMRG32k3a* state) { state->count += n; }
SIMT_INLINE unsigned curand(curandStateMRG32k3a* state) {
  return static_cast<unsigned>(simt::mixed(state->key + state->count++) >> 32);
}

// ---- distributions

namespace simt {
// In (0, 1]: of 32 bits, and of 53.
SIMT_INLINE float uniform(unsigned x) { return fmaf(static_cast<float>(x), 0x1p-32f, 0x1p-33f); }
SIMT_INLINE double uniform(unsigned x, unsigned y) {
  const unsigned long long bits = x ^ static_cast<unsigned long long>(y) << 21;
  return fma(static_cast<double>(bits), 0x1p-53, 0x1p-54);
}
// Two normal numbers (Box and Muller).
SIMT_INLINE float2 normals(unsigned x, unsigned y) {
  constexpr float kTurn = 6.2831855f;
  const float angle = fmaf(static_cast<float>(y), 0x1p-32f * kTurn, 0x1p-33f * kTurn),
              radius = sqrtf(-2.0f * logf(uniform(x)));
  return {radius * sinf(angle), radius * cosf(angle)};
}
SIMT_INLINE double2 normals(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  const double angle = 6.283185307179586 * uniform(y0, y1),
               radius = sqrt(-2.0 * log(uniform(x0, x1)));
  return {radius * sin(angle), radius * cos(angle)};
}
}  // namespace simt

// Braces: the elements are drawn from left to right.
template <class State, class = decltype(State::waiting)>
SIMT_INLINE uint4 curand4(State* s) {
  return {curand(s), curand(s), curand(s), curand(s)};
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE float curand_uniform(State* s) {
  return simt::uniform(curand(s));
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE float4 curand_uniform4(State* s) {
  return {curand_uniform(s), curand_uniform(s), curand_uniform(s), curand_uniform(s)};
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE double curand_uniform_double(State* s) {
  const unsigned x = curand(s);
  return simt::uniform(x, curand(s));
}
SIMT_INLINE double curand_uniform_double(curandStatePhilox4_32_10* s) {  // has 32 bits, as cuRAND's
  return (static_cast<double>(curand(s)) + 1) * 0x1p-32;
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE double2 curand_uniform2_double(State* s) {
  const uint4 x = curand4(s);
  return {simt::uniform(x.x, x.y), simt::uniform(x.z, x.w)};
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE float2 curand_normal2(State* s) {
  const unsigned x = curand(s);
  return simt::normals(x, curand(s));
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE float4 curand_normal4(State* s) {
  const float2 first = curand_normal2(s), second = curand_normal2(s);
  return {first.x, first.y, second.x, second.y};
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE double2 curand_normal2_double(State* s) {
  const uint4 x = curand4(s);
  return simt::normals(x.x, x.y, x.z, x.w);
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE float2 curand_log_normal2(State* s, float mean, float deviation) {
  const float2 two = curand_normal2(s);
  return {expf(mean + deviation * two.x), expf(mean + deviation * two.y)};
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE double2 curand_log_normal2_double(State* s, double mean, double deviation) {
  const double2 two = curand_normal2_double(s);
  return {exp(mean + deviation * two.x), exp(mean + deviation * two.y)};
}

namespace simt {
// What waits, if it is of this kind; else the first of two more numbers.
template <class T, class Draw>
SIMT_INLINE T next_of_two(Waiting& has, T& waiting, Waiting kind, const Draw& draw) {
  if (has == kind) {
    has = Waiting::none;
    return waiting;
  }
  const auto two = draw();
  has = kind;
  waiting = two.y;
  return two.x;
}
}  // namespace simt
template <class State, class = decltype(State::waiting)>
SIMT_INLINE float curand_normal(State* s) {
  return simt::next_of_two(s->waiting.has_float, s->waiting.single, simt::Waiting::normal,
                           [&] { return curand_normal2(s); });
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE double curand_normal_double(State* s) {
  return simt::next_of_two(s->waiting.has_double, s->waiting.wide, simt::Waiting::normal,
                           [&] { return curand_normal2_double(s); });
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE float curand_log_normal(State* s, float mean, float deviation) {
  return simt::next_of_two(s->waiting.has_float, s->waiting.single, simt::Waiting::log_normal,
                           [&] { return curand_log_normal2(s, mean, deviation); });
}
template <class State, class = decltype(State::waiting)>
SIMT_INLINE double curand_log_normal_double(State* s, double mean, double deviation) {
  return simt::next_of_two(s->waiting.has_double, s->waiting.wide, simt::Waiting::log_normal,
                           [&] { return curand_log_normal2_double(s, mean, deviation); });
}
