// Solution 7: hi·hi + (hi·lo + lo·hi) / 2048. lo·lo is at most 2^-22 of the product, and left out.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>

constexpr int kCount = 256;

// What a tensor core does: halves in, an exact product out.
__device__ float product(__half a, __half b) { return __half2float(a) * __half2float(b); }

__global__ void multiply(const float* x, const float* y, float* out) {
  const int i = threadIdx.x;
  const __half x_hi = __float2half(x[i]), y_hi = __float2half(y[i]);
  const float kScale = 2048;  // keeps lo a normal half
  const __half x_lo = __float2half((x[i] - __half2float(x_hi)) * kScale);
  const __half y_lo = __float2half((y[i] - __half2float(y_hi)) * kScale);
  const float small = product(x_hi, y_lo) + product(x_lo, y_hi);
  out[i] = product(x_hi, y_hi) + small / kScale;
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
