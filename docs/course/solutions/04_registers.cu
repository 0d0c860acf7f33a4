// Solution 4: a word of B serves four sums in registers: 5 wavefronts where 8 were needed.
#include <cstdio>

constexpr int kSize = 32, kRowsOfThread = 4;

__global__ void multiply(const float* a, const float* b, float* c) {
  __shared__ float a_tile[kSize][kSize], b_tile[kSize][kSize];
  const int x = threadIdx.x, first = threadIdx.y * kRowsOfThread;
  for (int r = first; r < first + kRowsOfThread; ++r) {
    a_tile[r][x] = a[r * kSize + x];
    b_tile[r][x] = b[r * kSize + x];
  }
  __syncthreads();
  float sums[kRowsOfThread] = {};
  for (int k = 0; k < kSize; ++k) {
    const float b_word = b_tile[k][x];
    for (int r = 0; r < kRowsOfThread; ++r) sums[r] += a_tile[first + r][k] * b_word;
  }
  for (int r = 0; r < kRowsOfThread; ++r) c[(first + r) * kSize + x] = sums[r];
}

int main() {
  float *a, *b, *c;
  cudaMallocManaged(&a, kSize * kSize * sizeof(float));
  cudaMallocManaged(&b, kSize * kSize * sizeof(float));
  cudaMallocManaged(&c, kSize * kSize * sizeof(float));
  for (int i = 0; i < kSize * kSize; ++i) a[i] = i % 7, b[i] = i % 5, c[i] = -1;

  multiply<<<1, dim3(kSize, kSize / kRowsOfThread)>>>(a, b, c);
  cudaDeviceSynchronize();

  for (int i = 0; i < kSize * kSize; ++i) {
    float expected = 0;  // small integers: exact in any order
    for (int k = 0; k < kSize; ++k) expected += a[i / kSize * kSize + k] * b[k * kSize + i % kSize];
    if (c[i] != expected) {
      printf("wrong: row %d, column %d is %g, and should be %g\n", i / kSize, i % kSize, c[i],
             expected);
      return 1;
    }
  }
  printf("all %d elements are right\n", kSize * kSize);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
}
