// Exercise 1: y = a·x + y for 1,000 elements, a thread for each.
//
// The kernel works on the first 256 elements only, once for each block.
// Hole: compute which element is the thread's own. Let threads without an element do nothing.
#include <cstdio>

constexpr int kElements = 1000, kThreads = 256;

__global__ void axpy(float a, const float* x, float* y) {
  const int i = threadIdx.x;  // Hole
  y[i] = a * x[i] + y[i];
}

int main() {
  float *x, *y;
  cudaMallocManaged(&x, kElements * sizeof(float));
  cudaMallocManaged(&y, kElements * sizeof(float));
  for (int i = 0; i < kElements; ++i) x[i] = i, y[i] = 1;

  axpy<<<(kElements + kThreads - 1) / kThreads, kThreads>>>(2, x, y);
  cudaDeviceSynchronize();

  for (int i = 0; i < kElements; ++i) {
    if (y[i] != 2 * x[i] + 1) {
      printf("wrong: y[%d] is %g, and should be %g\n", i, y[i], 2 * x[i] + 1);
      return 1;
    }
  }
  printf("all %d elements are right\n", kElements);
  cudaFree(x);
  cudaFree(y);
}
