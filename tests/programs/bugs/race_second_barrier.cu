// A tiled product whose second barrier is missing: a warp loads the next tile too early.
#include <cstdio>
#include <vector>

constexpr int kTile = 8;

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    tile_a[y][x] = a[row * n + k + x];
    tile_b[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[y][i] * tile_b[i][x];  // BUG
#ifdef CLEAN
    __syncthreads();
#endif
  }
  c[row * n + column] = sum;
}

int main() {
  const int n = 32;
  std::vector<float> host(n * n);
  for (int i = 0; i < n * n; ++i) host[i] = static_cast<float>(i % 7);
  float *a, *b, *c;
  cudaMalloc(&a, n * n * sizeof(float));
  cudaMalloc(&b, n * n * sizeof(float));
  cudaMalloc(&c, n * n * sizeof(float));
  cudaMemcpy(a, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
  multiply<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(a, b, c, n);
  cudaMemcpy(host.data(), c, n * n * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", host[0]);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
