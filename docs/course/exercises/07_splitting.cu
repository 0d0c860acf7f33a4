// Exercise 7: products of FP32 numbers out of products of halves, as tensor cores make them.
//
// A half keeps 11 significant bits, FP32 24. One product of halves is right to 3 digits.
// Hole: split each factor into hi + lo, two halves, and add the three products that count. The
// error must stay below 2^-21 of the product.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>

constexpr int kCount = 256;

// What a tensor core does: halves in, an exact product out.
__device__ float product(__half a, __half b) { return __half2float(a) * __half2float(b); }

__global__ void multiply(const float* x, const float* y, float* out) {
  const int i = threadIdx.x;
  const __half x_hi = __float2half(x[i]), y_hi = __float2half(y[i]);
  out[i] = product(x_hi, y_hi);  // Hole: two more products
}

int main() {
  float *x, *y, *out;
  cudaMallocManaged(&x, kCount * sizeof(float));
  cudaMallocManaged(&y, kCount * sizeof(float));
  cudaMallocManaged(&out, kCount * sizeof(float));
  for (int i = 0; i < kCount; ++i) {
    x[i] = 0.25f + 0.5f * std::fabs(std::sin(1.0f + i));
    y[i] = 0.25f + 0.5f * std::fabs(std::cos(3.0f + 2 * i));
  }

  multiply<<<1, kCount>>>(x, y, out);
  cudaDeviceSynchronize();

  double worst = 0;
  for (int i = 0; i < kCount; ++i) {
    const double exact = double(x[i]) * y[i];
    worst = std::fmax(worst, std::fabs(out[i] - exact) / exact);
  }
  const bool is_right = worst <= std::ldexp(1, -21);
  printf("%s: the worst error is 2^%.1f of the product, allowed is 2^-21\n",
         is_right ? "right" : "wrong", std::log2(worst));
  cudaFree(x);
  cudaFree(y);
  cudaFree(out);
  return !is_right;
}
