// Three transposes of one matrix: `warpladder explain examples/transpose.cu --html transpose.html` shows
// what each asks of memory, line by line.
#include <cstdio>
#include <vector>

constexpr int kSize = 256, kTile = 32;

__global__ void naive(const float* in, float* out) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  out[x * kSize + y] = in[y * kSize + x];  // a warp's stores lie kSize floats apart
}

__global__ void tiled(const float* in, float* out) {
  __shared__ float tile[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int column = blockIdx.x * kTile, row = blockIdx.y * kTile;
  tile[ty][tx] = in[(row + ty) * kSize + column + tx];
  __syncthreads();  // the tile is whole before its columns are read
  out[(column + ty) * kSize + row + tx] = tile[tx][ty];  // 32 lanes, one bank
}

__global__ void padded(const float* in, float* out) {
  __shared__ float tile[kTile][kTile + 1];  // one more word: the column is spread over the banks
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int column = blockIdx.x * kTile, row = blockIdx.y * kTile;
  tile[ty][tx] = in[(row + ty) * kSize + column + tx];
  __syncthreads();  // the tile is whole before its columns are read
  out[(column + ty) * kSize + row + tx] = tile[tx][ty];
}

int main() {
  std::vector<float> matrix(kSize * kSize), result(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i) matrix[i] = static_cast<float>(i);
  const size_t bytes = matrix.size() * sizeof(float);
  float *in, *out;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaMemcpy(in, matrix.data(), bytes, cudaMemcpyHostToDevice);
  const dim3 grid(kSize / kTile, kSize / kTile), block(kTile, kTile);
  naive<<<grid, block>>>(in, out);
  tiled<<<grid, block>>>(in, out);
  padded<<<grid, block>>>(in, out);
  cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost);
  printf("%g %g\n", result[1], result[kSize]);
  cudaFree(in);
  cudaFree(out);
}
