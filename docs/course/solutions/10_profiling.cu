// Solution 10: a warp has a row in row_means, and reverse_tiles reads its tile by rows.
#include <cstdio>

constexpr int kSize = 128, kTile = 32;

__global__ void row_means(const float* in, float* means) {
  const int row = blockIdx.x, lane = threadIdx.x;
  float sum = 0;
  for (int column = lane; column < kSize; column += 32) sum += in[row * kSize + column];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (lane == 0) means[row] = sum / kSize;
}

__global__ void subtract(float* matrix, const float* means) {
  const int row = blockIdx.x, column = threadIdx.x;
  matrix[row * kSize + column] -= means[row];
}

__global__ void reverse_tiles(const float* in, float* out) {
  __shared__ float tile[kTile * kTile];
  const int x = threadIdx.x, y = threadIdx.y, block = blockIdx.x * kTile * kTile;
  tile[y * kTile + x] = in[block + y * kTile + x];
  __syncthreads();
  out[block + y * kTile + x] = tile[(kTile - 1 - y) * kTile + kTile - 1 - x];
}

int main() {
  float *in, *means, *out;
  cudaMallocManaged(&in, kSize * kSize * sizeof(float));
  cudaMallocManaged(&means, kSize * sizeof(float));
  cudaMallocManaged(&out, kSize * kSize * sizeof(float));
  for (int i = 0; i < kSize * kSize; ++i) in[i] = i % 3 + i / kSize;

  row_means<<<kSize, 32>>>(in, means);
  subtract<<<kSize, kSize>>>(in, means);
  reverse_tiles<<<kSize * kSize / (kTile * kTile), dim3(kTile, kTile)>>>(in, out);
  cudaDeviceSynchronize();

  for (int i = 0; i < kSize * kSize; ++i) {
    const int from =
        i / (kTile * kTile) * (kTile * kTile) + kTile * kTile - 1 - i % (kTile * kTile);
    float mean = 0;  // small integers: exact in any order
    for (int c = 0; c < kSize; ++c) mean += (from / kSize * kSize + c) % 3 + from / kSize;
    const float expected = from % 3 + from / kSize - mean / kSize;
    if (out[i] != expected) {
      printf("wrong: out[%d] is %g, and should be %g\n", i, out[i], expected);
      return 1;
    }
  }
  printf("all %d elements are right\n", kSize * kSize);
  cudaFree(in);
  cudaFree(means);
  cudaFree(out);
}
