// Exercise 5: a block streams 16 tiles of 128 words. Each thread adds up what lies at the mirrored
// place of each tile.
//
// There are two barriers a tile: one until the tile is there, one until everybody has read it. The
// second one keeps a thread from writing the next tile early, and so it waits.
// Hole: let two tiles take turns, ask for the next word early, and drop the second barrier.
#include <cstdio>

constexpr int kThreads = 128, kTiles = 16, kBlocks = 2, kWords = kThreads * kTiles;

__global__ void mirror_sums(const float* in, float* out) {
  __shared__ float tile[kThreads];  // Hole: two of them
  const int t = threadIdx.x;
  in += blockIdx.x * kWords;
  float sum = 0;
  for (int i = 0; i < kTiles; ++i) {
    tile[t] = in[i * kThreads + t];
    __syncthreads();  // the tile is there
    sum += tile[kThreads - 1 - t];
    __syncthreads();  // everybody has read it
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
