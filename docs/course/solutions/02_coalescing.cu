// Solution 2: the lanes of a warp have neighbouring columns, and so neighbouring words.
#include <cstdio>

constexpr int kRows = 256, kColumns = 256;

__global__ void scale_columns(float* matrix, const float* factors) {
  const int row = blockIdx.x, column = threadIdx.x;
  matrix[row * kColumns + column] *= factors[column];
}

int main() {
  float *matrix, *factors;
  cudaMallocManaged(&matrix, kRows * kColumns * sizeof(float));
  cudaMallocManaged(&factors, kColumns * sizeof(float));
  for (int i = 0; i < kRows * kColumns; ++i) matrix[i] = i % 1000;
  for (int j = 0; j < kColumns; ++j) factors[j] = j + 0.5f;

  scale_columns<<<256, 256>>>(matrix, factors);
  cudaDeviceSynchronize();

  for (int i = 0; i < kRows * kColumns; ++i) {
    const float expected = (i % 1000) * factors[i % kColumns];
    if (matrix[i] != expected) {
      printf("wrong: row %d, column %d is %g, and should be %g\n", i / kColumns, i % kColumns,
             matrix[i], expected);
      return 1;
    }
  }
  printf("all %d elements are right\n", kRows * kColumns);
  cudaFree(matrix);
  cudaFree(factors);
}
