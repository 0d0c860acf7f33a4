// The other file of row_03_thread_tile.cu.

__device__ void add_outer_product(float (&sum)[8][8], const float (&a)[8], const float (&b)[8]) {
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) sum[i][j] += a[i] * b[j];
  }
}
