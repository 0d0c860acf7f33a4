// C = A B with an 8 × 8 tile of C in each thread's registers. The multiply-adds of a step are a
// function of another file, outer_product.cu: docs/compile-flow.md shows what that costs with
// separate compilation, and that link-time optimisation takes the cost away.

__device__ void add_outer_product(float (&sums)[8][8], const float (&a)[8], const float (&b)[8]);

// Row-major; m and n are multiples of 8.
__global__ void __launch_bounds__(128) multiply(int m, int n, int k, const float* __restrict__ a,
                                                const float* __restrict__ b,
                                                float* __restrict__ c) {
  const int tile = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int first_row = tile / (n / 8) * 8, first_column = tile % (n / 8) * 8;
  if (first_row >= m) return;
  float sums[8][8] = {};
  for (int step = 0; step < k; ++step) {
    float rows[8], columns[8];
    for (int i = 0; i < 8; ++i) rows[i] = a[static_cast<long long>(first_row + i) * k + step];
    for (int j = 0; j < 8; ++j) columns[j] = b[static_cast<long long>(step) * n + first_column + j];
    add_outer_product(sums, rows, columns);
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      c[static_cast<long long>(first_row + i) * n + first_column + j] = sums[i][j];
    }
  }
}
