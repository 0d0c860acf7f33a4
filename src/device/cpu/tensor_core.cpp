#include "device/cpu/tensor_core.hpp"

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace warpladder::device::cpu {
namespace {

constexpr int kLine = 128, kChunk = 16, kMostDepth = 16;

typedef double Doubles __attribute__((vector_size(32)));
constexpr int kInVector = 4, kVectors = 8;
constexpr int kStrip = kInVector * kVectors;  // columns whose sums stay in registers

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
    if (t.element_bytes == 2) {
      _mm256_storeu_ps(to + half * 8, _mm256_cvtph_ps(bits));
    } else {
      const __m128i kept = _mm_and_si128(bits, _mm_set1_epi32(~0x1fff));
      _mm_storeu_ps(to + half * 4, _mm_castsi128_ps(kept));
    }
  }
}

float towards_zero(double exact) {
  const auto nearest = static_cast<float>(exact);
  const bool beyond = std::fabs(static_cast<double>(nearest)) > std::fabs(exact);
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(nearest) - std::int32_t{beyond});
}

template <int kDepth>
void multiply(const TensorTiles& t, bool add, float* sums) {
  alignas(32) double b[kMostDepth][kMostTensorColumns];
  for (int n = 0; n < t.columns; ++n) {
    float line[kMostDepth];
    decode(t, t.b, n, line);
    for (int k = 0; k < kDepth; ++k) b[k][n] = static_cast<double>(line[k]);
  }
  for (int m = 0; m < kTensorRows; ++m) {
    float a[kMostDepth];
    decode(t, t.a, m, a);
    for (int strip = 0; strip < t.columns; strip += kStrip) {
      float* const to = sums + m * t.columns + strip;
      alignas(32) double exact[kStrip] = {};
      if (add) {
        for (int n = 0; n < kStrip; ++n) exact[n] = static_cast<double>(to[n]);
      }
      Doubles sum[kVectors];
      std::memcpy(sum, exact, sizeof sum);
      for (int k = 0; k < kDepth; ++k) {
        const double factor = static_cast<double>(a[k]);
        const auto* const from = reinterpret_cast<const Doubles*>(&b[k][strip]);
        for (int v = 0; v < kVectors; ++v) sum[v] += factor * from[v];
      }
      std::memcpy(exact, sum, sizeof exact);
      for (int n = 0; n < kStrip; ++n) to[n] = towards_zero(exact[n]);
    }
  }
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

void gather(float* const* of_lane, int columns, float* sums) {
  for_each_pair(of_lane, columns,
                [&](const float* lane, int at) { std::memcpy(sums + at, lane, 8); });
}
void scatter(float* const* of_lane, int columns, const float* sums) {
  for_each_pair(of_lane, columns, [&](float* lane, int at) { std::memcpy(lane, sums + at, 8); });
}

}  // namespace warpladder::device::cpu
