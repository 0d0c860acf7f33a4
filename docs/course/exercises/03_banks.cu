// Exercise 3: the transpose of a 128×128 matrix through a tile in shared memory.
//
// Both sides of global memory are coalesced. A column of the tile, though, lies in one bank.
// Hole: lay the tile down so that no request takes more than one wavefront.
#include <cstdio>

constexpr int kSize = 128, kTile = 32, kThreadRows = 8;

__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[kTile][kTile];  // Hole
  const int x = threadIdx.x, left = blockIdx.x * kTile, top = blockIdx.y * kTile;
  for (int y = threadIdx.y; y < kTile; y += kThreadRows) {
    tile[y][x] = in[(top + y) * kSize + left + x];
  }
  __syncthreads();
  for (int y = threadIdx.y; y < kTile; y += kThreadRows) {
    out[(left + y) * kSize + top + x] = tile[x][y];
  }
}

int main() {
  float *in, *out;
  cudaMallocManaged(&in, kSize * kSize * sizeof(float));
  cudaMallocManaged(&out, kSize * kSize * sizeof(float));
  for (int i = 0; i < kSize * kSize; ++i) in[i] = i, out[i] = -1;

  transpose<<<dim3(kSize / kTile, kSize / kTile), dim3(kTile, kThreadRows)>>>(in, out);
  cudaDeviceSynchronize();

  for (int i = 0; i < kSize * kSize; ++i) {
    const float expected = in[i % kSize * kSize + i / kSize];
    if (out[i] != expected) {
      printf("wrong: row %d, column %d is %g, and should be %g\n", i / kSize, i % kSize, out[i],
             expected);
      return 1;
    }
  }
  printf("all %d elements are right\n", kSize * kSize);
  cudaFree(in);
  cudaFree(out);
}
