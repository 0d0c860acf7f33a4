// Exercise 8: the sum of each block's 256 values.
//
// The tree goes through shared memory, with a barrier for each of its 8 rounds, and one at the
// start. Hole: let the lanes of a warp hand each other registers, so that one barrier is enough.
#include <cstdio>

constexpr int kThreads = 256, kBlocks = 8;

__global__ void sum_blocks(const float* in, float* out) {
  __shared__ float part[kThreads];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {  // Hole
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
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
