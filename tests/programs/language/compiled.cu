// Neighbouring words, a division and a fence, for counts as a compiler made them.
#include <cstdio>

__global__ void sum_of_four(float* sums, const float* words) {
  const unsigned i = threadIdx.x * 4;
  const float sum = words[i] + words[i + 1] + words[i + 2] + words[i + 3];  // joined
  sums[threadIdx.x] = sum / words[i];                                       // divided
  __threadfence();
  sums[threadIdx.x + 32] = rsqrtf(sum);
}

int main() {
  float *words, *sums;
  cudaMallocManaged(&words, 128 * sizeof(float));
  cudaMallocManaged(&sums, 64 * sizeof(float));
  for (int i = 0; i < 128; ++i) words[i] = 4;
  sum_of_four<<<1, 32>>>(sums, words);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::puts(sums[31] == 4 && sums[63] == 0.25f ? "sums ok" : "sums differ");
}
