// Solution 5: two tiles take turns. The barrier of a tile also says that the one before it was
// read.
#include <cstdio>

constexpr int kThreads = 128, kTiles = 16, kBlocks = 2, kWords = kThreads * kTiles;

__global__ void mirror_sums(const float* in, float* out) {
  __shared__ float tile[2][kThreads];
  const int t = threadIdx.x;
  in += blockIdx.x * kWords;
  float sum = 0, next = in[t];
  for (int i = 0; i < kTiles; ++i) {
    tile[i % 2][t] = next;
    if (i + 1 < kTiles) next = in[(i + 1) * kThreads + t];  // on its way while this tile is read
    __syncthreads();  // the tile is there, and everybody has read the one before it
    sum += tile[i % 2][kThreads - 1 - t];
  }
  out[blockIdx.x * kThreads + t] = sum;
}

int main() {
  float *in, *out;
  cudaMallocManaged(&in, kBlocks * kWords * sizeof(float));
  cudaMallocManaged(&out, kBlocks * kThreads * sizeof(float));
  for (int i = 0; i < kBlocks * kWords; ++i) in[i] = i % 11;

  mirror_sums<<<kBlocks, kThreads>>>(in, out);
  cudaDeviceSynchronize();

  for (int b = 0; b < kBlocks; ++b) {
    for (int t = 0; t < kThreads; ++t) {
      float expected = 0;
      for (int i = 0; i < kTiles; ++i) expected += in[b * kWords + i * kThreads + kThreads - 1 - t];
      if (out[b * kThreads + t] != expected) {
        printf("wrong: thread %d of block %d has %g, and should have %g\n", t, b,
               out[b * kThreads + t], expected);
        return 1;
      }
    }
  }
  printf("all %d sums are right\n", kBlocks * kThreads);
  cudaFree(in);
  cudaFree(out);
}
