// The other file of tile.cu.

__device__ void add_outer_product(float (&sums)[8][8], const float (&a)[8], const float (&b)[8]) {
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) sums[i][j] += a[i] * b[j];
  }
}
