// Solution 1: a thread's element is its block's first one plus its own number. 24 threads have
// none.
#include <cstdio>

constexpr int kElements = 1000, kThreads = 256;

__global__ void axpy(float a, const float* x, float* y) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < kElements) y[i] = a * x[i] + y[i];
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
