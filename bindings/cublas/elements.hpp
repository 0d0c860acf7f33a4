#pragma once
// What is done to each element around a product: the epilogue, and what `verify` needs. Plain
// functions of an element's place, which a kernel calls on a GPU and a loop in the tests.

#include <vector_types.h>

#include <cmath>
#include <cstdint>

#include "report.hpp"

#if defined(__CUDACC__)
#define WARPLADDER_ANY_SIDE __host__ __device__
#else
#define WARPLADDER_ANY_SIDE
#endif

namespace warpladder::cublas {

// How many elements there are, one call for each.
struct Extent {
  std::int64_t rows = 0, columns = 1, batch = 1;
};

// Matrices to read: element (row, column) of each, wherever it lies.
struct View {
  const float* data = nullptr;
  std::int64_t row_stride = 1, column_stride = 0, batch_stride = 0;
  const float* const* pointers = nullptr;  // a matrix each, in the place of data and batch_stride

  WARPLADDER_ANY_SIDE float at(std::int64_t row, std::int64_t column, std::int64_t matrix) const {
    const float* const from = pointers ? pointers[matrix] : data + matrix * batch_stride;
    return from[row * row_stride + column * column_stride];
  }
};

enum class Activation { none, relu, gelu };

// NaN stays NaN. GELU by the tanh formula, as cublasLt and PyTorch's fused layers have it: x/2 ·
// (1 + tanh(u)) = x / (1 + exp(-2u)). The second form loses no digits where x is negative.
WARPLADDER_ANY_SIDE inline float activate(Activation activation, float x) {
  if (activation == Activation::relu) return x < 0.0f ? 0.0f : x;
  if (activation == Activation::gelu) {
    const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
    const float result = x / (1.0f + expf(-2.0f * u));
    return x < -20.0f ? -0.0f : result;  // where x / exp() may be -inf / inf
  }
  return x;
}

// d = activation(d + bias), bias an element for each row. kWidth rows a call: 4 where vectors fit.
template <int kWidth>
struct Epilogue {
  Extent extent;  // rows / kWidth
  Activation activation = Activation::none;
  const float* bias = nullptr;
  std::int64_t bias_stride = 0;
  float* d = nullptr;
  std::int64_t ldd = 0, stride_d = 0;

  WARPLADDER_ANY_SIDE void operator()(std::int64_t row, std::int64_t column,
                                      std::int64_t matrix) const {
    float* const at = d + matrix * stride_d + column * ldd + row * kWidth;
    const float* const added = bias ? bias + matrix * bias_stride + row * kWidth : nullptr;
    if constexpr (kWidth == 4) {
      float4 x = *reinterpret_cast<float4*>(at);
      const float4 b = added ? *reinterpret_cast<const float4*>(added) : float4{0, 0, 0, 0};
      x = {activate(activation, added ? x.x + b.x : x.x),
           activate(activation, added ? x.y + b.y : x.y),
           activate(activation, added ? x.z + b.z : x.z),
           activate(activation, added ? x.w + b.w : x.w)};
      *reinterpret_cast<float4*>(at) = x;
    } else {
      *at = activate(activation, added ? *at + *added : *at);
    }
  }
};

struct Copy {
  Extent extent;
  View from;
  float* to = nullptr;
  std::int64_t row_stride = 1, column_stride = 0, batch_stride = 0;

  WARPLADDER_ANY_SIDE void operator()(std::int64_t row, std::int64_t column,
                                      std::int64_t matrix) const {
    to[matrix * batch_stride + row * row_stride + column * column_stride] =
        from.at(row, column, matrix);
  }
};

// An array of pointers to matrices that lie `stride` apart.
struct PointTo {
  Extent extent;
  float* data = nullptr;
  std::int64_t stride = 0;
  float** pointers = nullptr;

  WARPLADDER_ANY_SIDE void operator()(std::int64_t matrix, std::int64_t, std::int64_t) const {
    pointers[matrix] = data + matrix * stride;
  }
};

// The Euclidean norm of each row.
struct Norms {
  Extent extent;
  View of;
  std::int64_t length = 0;
  double* norms = nullptr;  // rows × batch

  WARPLADDER_ANY_SIDE void operator()(std::int64_t row, std::int64_t, std::int64_t matrix) const {
    double sum = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      const double x = of.at(row, i, matrix);
      sum += x * x;
    }
    norms[matrix * extent.rows + row] = std::sqrt(sum);
  }
};

// Compares ours with theirs. Whatever the order of its sums, a product of FP32 terms with k terms
// lies within (k + 4) u S of the truth. Here u = 2^-24 and S = Σ|α a b| + |β c|. S is at most |α|
// |a| |b| + |β c| with the norms of the row and the column.
// |α| |a| |b| + |β c| with the norms of the row and the column. So two of them differ by at most
// twice that. Behind an activation, whose slope is at most 1.13, it is as much more, and what the
// activation itself may be off by.
struct Compare {
  Extent extent;
  View ours, theirs, before,
      bias;  // before: C, where beta is not 0; data is null where there is none
  const double* norms_a = nullptr;
  const double* norms_b = nullptr;
  float alpha = 1, beta = 0;
  std::int64_t k = 0;
  Activation activation = Activation::none;
  Verdict* verdict = nullptr;

  WARPLADDER_ANY_SIDE double bound(std::int64_t row, std::int64_t column, std::int64_t matrix,
                                   double result) const {
    constexpr double kUnit = 0x1p-24, kLeast = 0x1p-149;
    const double a = alpha, terms = static_cast<double>(k) + 4;
    double size = norms_a ? std::fabs(a) * norms_a[matrix * extent.rows + row] *
                                norms_b[matrix * extent.columns + column]
                          : 0;
    if (before.data || before.pointers) {
      size += std::fabs(static_cast<double>(beta) * before.at(row, column, matrix));
    }
    if (bias.data) size += std::fabs(static_cast<double>(bias.at(row, column, matrix)));
    const double products = 2 * terms * (kUnit * size + (std::fabs(a) + 1) * kLeast);
    if (activation == Activation::none) return products;
    const double own = activation == Activation::gelu ? 0x1p-10 * (std::fabs(result) + 2.5) : 0;
    return 1.13 * products + own;
  }

  WARPLADDER_ANY_SIDE void operator()(std::int64_t row, std::int64_t column,
                                      std::int64_t matrix) const {
    const double x = ours.at(row, column, matrix), y = theirs.at(row, column, matrix);
    if (x == y || (std::isnan(x) && std::isnan(y))) return;
    const double share = std::fabs(x - y) / bound(row, column, matrix, y);
    const bool good = share <= 1;  // NaN is not
    const float worst = share < 1e30 ? static_cast<float>(share) : 1e30f;
#if defined(__CUDA_ARCH__)
    if (!good) atomicAdd(&verdict->wrong, 1ull);
    // Floats that are not negative are ordered as their bits are.
    atomicMax(reinterpret_cast<int*>(&verdict->worst), __float_as_int(worst));
#else
    if (!good) ++verdict->wrong;
    if (worst > verdict->worst) verdict->worst = worst;
#endif
  }
};

}  // namespace warpladder::cublas
