// Solution 8: five shuffles in each warp, one barrier, and three shuffles for the eight sums.
#include <cstdio>

constexpr int kThreads = 256, kBlocks = 8;

__global__ void sum_blocks(const float* in, float* out) {
  constexpr int kWarps = kThreads / 32;
  constexpr unsigned kAll = 0xffffffff;
  __shared__ float part[kWarps];
  const int t = threadIdx.x;
  float sum = in[blockIdx.x * kThreads + t];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(kAll, sum, step);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();  // all warps' sums are there
  if (t >= 32) return;
  sum = t < kWarps ? part[t] : 0;
  for (int step = kWarps / 2; step > 0; step /= 2) sum += __shfl_down_sync(kAll, sum, step);
  if (t == 0) out[blockIdx.x] = sum;
}

int main() {
  float *in, *out;
  cudaMallocManaged(&in, kBlocks * kThreads * sizeof(float));
  cudaMallocManaged(&out, kBlocks * sizeof(float));
  for (int i = 0; i < kBlocks * kThreads; ++i) in[i] = i % 17;

  sum_blocks<<<kBlocks, kThreads>>>(in, out);
  cudaDeviceSynchronize();

  for (int b = 0; b < kBlocks; ++b) {
    float expected = 0;  // small integers: exact in any order
    for (int t = 0; t < kThreads; ++t) expected += in[b * kThreads + t];
    if (out[b] != expected) {
      printf("wrong: the sum of block %d is %g, and should be %g\n", b, out[b], expected);
      return 1;
    }
  }
  printf("all %d sums are right\n", kBlocks);
  cudaFree(in);
  cudaFree(out);
}
