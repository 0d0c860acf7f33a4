// The second half of a sum's operand is never copied.
#include <cstdio>
#include <vector>

__global__ void add(const float* a, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] += a[i];  // BUG
}

int main() {
  constexpr int kCount = 128;
  std::vector<float> host(kCount, 1.0f);
  float *a, *sum;
  cudaMalloc(&a, kCount * sizeof(float));
  cudaMalloc(&sum, kCount * sizeof(float));
  cudaMemset(sum, 0, kCount * sizeof(float));
#ifdef CLEAN
  cudaMemcpy(a, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
#else
  cudaMemcpy(a, host.data(), kCount / 2 * sizeof(float), cudaMemcpyHostToDevice);
#endif
  add<<<2, kCount / 2>>>(a, sum);
  cudaMemcpy(host.data(), sum, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", host[kCount - 1]);
  cudaFree(a);
  cudaFree(sum);
}
