#include "executor/tensor_core.hpp"

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace warpladder::executor {
namespace {

constexpr int kLine = 128, kChunk = 16, kMostDepth = 16;

constexpr int kInVector = 4;

// The swizzle acts on addresses: bits 4 to 6 are XORed with bits 7 to 9.
const unsigned char* chunk_at(const unsigned char* shared, unsigned at) {
  return shared + (at ^ ((at >> 7 & 7) << 4));
}

// One line of a tile: 16 halves or 8 floats, whose lower 13 bits the tensor cores ignore.
void decode(const TensorTiles& t, unsigned tile, int line, float* to) {
  const unsigned at = tile + static_cast<unsigned>(line) * kLine;
  for (unsigned half = 0; half < 2; ++half) {
    const auto* chunk = reinterpret_cast<const __m128i*>(chunk_at(t.shared, at + half * kChunk));
    const __m128i bits = _mm_loadu_si128(chunk);
    if (t.a_of_lane) {
      const __m256i upper = _mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16);
      _mm256_storeu_ps(to + half * 8, _mm256_castsi256_ps(upper));
    } else if (t.element_bytes == 2) {
      _mm256_storeu_ps(to + half * 8, _mm256_cvtph_ps(bits));
    } else {
      const __m128i kept = _mm_and_si128(bits, _mm_set1_epi32(~0x1fff));
      _mm_storeu_ps(to + half * 4, _mm_castsi128_ps(kept));
    }
  }
}

// The same of a line of A whose 16 bfloat16 four lanes hold.
void gather_line(const TensorTiles& t, int line, float* to) {
  for (int k = 0; k < 16; ++k) {
    const int lane = line / 16 * 32 + line % 8 * 4 + k % 8 / 2;
    const std::uint32_t word = t.a_of_lane[lane][line % 16 / 8 + k / 8 * 2];
    to[k] = std::bit_cast<float>(k % 2 ? word & 0xffff0000u : word << 16);
  }
}

// The float next to each sum, on the side of zero.
__m128 towards_zero(__m256d exact) {
  const __m256d magnitude = _mm256_castsi256_pd(_mm256_set1_epi64x(INT64_MAX));
  const __m128 nearest = _mm256_cvtpd_ps(exact);
  const __m256d beyond = _mm256_cmp_pd(_mm256_and_pd(_mm256_cvtps_pd(nearest), magnitude),
                                       _mm256_and_pd(exact, magnitude), _CMP_GT_OQ);
  // A float's bits are a number that grows with its magnitude. The mask is -1 where true; of each
  // of its four 64-bit parts one half is enough.
  const __m256i halves = _mm256_permutevar8x32_epi32(_mm256_castpd_si256(beyond),
                                                     _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
  return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(nearest), _mm256_castsi256_si128(halves)));
}

// The sums of kVectors · kInVector columns stay in registers.
template <int kDepth, int kVectors>
void multiply_in_strips(const TensorTiles& t, bool add, float* sums) {
  constexpr int kStrip = kInVector * kVectors;
  alignas(32) double b[kMostDepth][kMostTensorColumns];
  for (int n = 0; n < t.columns; ++n) {
    float line[kMostDepth];
    decode(t, t.b, n, line);
    for (int k = 0; k < kDepth; ++k) b[k][n] = static_cast<double>(line[k]);
  }
  for (int m = 0; m < kTensorRows; ++m) {
    float a[kMostDepth];
    if (t.a_of_lane) {
      gather_line(t, m, a);
    } else {
      decode(t, t.a, m, a);
    }
    for (int strip = 0; strip < t.columns; strip += kStrip) {
      float* const to = sums + m * t.columns + strip;
      __m256d sum[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        sum[v] = add ? _mm256_cvtps_pd(_mm_loadu_ps(to + v * kInVector)) : _mm256_setzero_pd();
      }
      for (int k = 0; k < kDepth; ++k) {
        const __m256d factor = _mm256_set1_pd(static_cast<double>(a[k]));
        for (int v = 0; v < kVectors; ++v) {
          sum[v] = _mm256_fmadd_pd(factor, _mm256_load_pd(&b[k][strip + v * kInVector]), sum[v]);
        }
      }
      for (int v = 0; v < kVectors; ++v) _mm_storeu_ps(to + v * kInVector, towards_zero(sum[v]));
    }
  }
}

template <int kDepth>
void multiply(const TensorTiles& t, bool add, float* sums) {
  const bool is_narrow = t.columns % 32 != 0;
  is_narrow ? multiply_in_strips<kDepth, 4>(t, add, sums)
            : multiply_in_strips<kDepth, 8>(t, add, sums);
}

// Calls f(the lane's sums, the tile's) for each pair of neighbouring columns that a lane holds.
template <class Function>
void for_each_pair(float* const* of_lane, int columns, const Function& f) {
  for (int lane = 0; lane < 128; ++lane) {
    for (int j = 0; j < columns / 8; ++j) {
      for (int h = 0; h < 2; ++h) {
        const int row = 16 * (lane / 32) + lane % 32 / 4 + 8 * h, column = 8 * j + 2 * (lane % 4);
        f(of_lane[lane] + 4 * j + 2 * h, row * columns + column);
      }
    }
  }
}

}  // namespace

void multiply(const TensorTiles& tiles, bool add, float* sums) {
  if (tiles.element_bytes == 2) {
    multiply<16>(tiles, add, sums);
  } else {
    multiply<8>(tiles, add, sums);
  }
}

void multiply_warp(const WarpFactors* const (&of_lane)[32]) {
  const bool halves = of_lane[0]->element_bytes == 2;
  const int depth = halves ? 16 : 8;
  double a[kWarpRows][kMostDepth];
  alignas(32) double b[kMostDepth][kWarpColumns];
  // Calls put(k, value) for the elements of a word whose place among 32 bytes is `place`.
  const auto unpack = [&](std::uint32_t word, int place, const auto& put) {
    if (halves) {
      put(2 * place, static_cast<double>(_cvtsh_ss(static_cast<unsigned short>(word))));
      put(2 * place + 1, static_cast<double>(_cvtsh_ss(static_cast<unsigned short>(word >> 16))));
    } else {
      put(place, static_cast<double>(std::bit_cast<float>(word & ~0x1fffu)));
    }
  };
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
      unpack(of_lane[lane]->a[i], t + i / 2 * 4,
             [&](int k, double value) { a[g + i % 2 * 8][k] = value; });
    }
    for (int i = 0; i < 2; ++i) {
      unpack(of_lane[lane]->b[i], t + i * 4, [&](int k, double value) { b[k][g] = value; });
    }
  }
  for (int row = 0; row < static_cast<int>(kWarpRows); ++row) {
    float* const to[4] = {
        of_lane[row % 8 * 4]->sums + row / 8 * 2, of_lane[row % 8 * 4 + 1]->sums + row / 8 * 2,
        of_lane[row % 8 * 4 + 2]->sums + row / 8 * 2, of_lane[row % 8 * 4 + 3]->sums + row / 8 * 2};
    for (int half = 0; half < 2; ++half) {
      float *const left = to[2 * half], *const right = to[2 * half + 1];
      __m256d sum = of_lane[0]->add
                        ? _mm256_cvtps_pd(_mm_setr_ps(left[0], left[1], right[0], right[1]))
                        : _mm256_setzero_pd();
      for (int k = 0; k < depth; ++k) {
        sum = _mm256_fmadd_pd(_mm256_set1_pd(a[row][k]), _mm256_load_pd(&b[k][4 * half]), sum);
      }
      float four[4];
      _mm_storeu_ps(four, towards_zero(sum));
      std::memcpy(left, four, 8);
      std::memcpy(right, four + 2, 8);
    }
  }
}

void gather(float* const* of_lane, int columns, float* sums) {
  for_each_pair(of_lane, columns,
                [&](const float* lane, int at) { std::memcpy(sums + at, lane, 8); });
}
void scatter(float* const* of_lane, int columns, const float* sums) {
  for_each_pair(of_lane, columns, [&](float* lane, int at) { std::memcpy(lane, sums + at, 8); });
}

}  // namespace warpladder::executor
