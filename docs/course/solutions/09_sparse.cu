// Solution 9: a warp for each row. Its lanes read 32 neighbouring entries, then add up by shuffles.
#include <cstdio>

constexpr int kRows = 64, kMostEntries = kRows * 160, kThreads = 128;

__global__ void multiply(const int* row_offsets, const int* columns, const float* values,
                         const float* x, float* y) {
  const int row = (blockIdx.x * kThreads + threadIdx.x) / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int i = row_offsets[row] + lane; i < row_offsets[row + 1]; i += 32) {
    sum += values[i] * x[columns[i]];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (lane == 0) y[row] = sum;
}

int main() {
  int *row_offsets, *columns;
  float *values, *x, *y;
  cudaMallocManaged(&row_offsets, (kRows + 1) * sizeof(int));
  cudaMallocManaged(&columns, kMostEntries * sizeof(int));
  cudaMallocManaged(&values, kMostEntries * sizeof(float));
  cudaMallocManaged(&x, 512 * sizeof(float));
  cudaMallocManaged(&y, kRows * sizeof(float));
  for (int i = 0; i < 512; ++i) x[i] = i % 5;
  row_offsets[0] = 0;
  for (int row = 0; row < kRows; ++row) {
    const int begin = row_offsets[row], length = 32 * (1 + row * 7 % 5);
    for (int i = 0; i < length; ++i) {
      columns[begin + i] = row + i;
      values[begin + i] = (row + i) % 3;
    }
    row_offsets[row + 1] = begin + length;
    y[row] = -1;
  }

  // A warp for each row needs 32 threads a row.
  multiply<<<kRows * 32 / kThreads, kThreads>>>(row_offsets, columns, values, x, y);
  cudaDeviceSynchronize();

  for (int row = 0; row < kRows; ++row) {
    float expected = 0;  // small integers: exact in any order
    for (int i = row_offsets[row]; i < row_offsets[row + 1]; ++i) {
      expected += values[i] * x[columns[i]];
    }
    if (y[row] != expected) {
      printf("wrong: y[%d] is %g, and should be %g\n", row, y[row], expected);
      return 1;
    }
  }
  printf("all %d rows are right\n", kRows);
  for (void* p : {(void*)row_offsets, (void*)columns, (void*)values, (void*)x, (void*)y})
    cudaFree(p);
}
