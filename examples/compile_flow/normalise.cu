// y = x / sqrt(mean(x²) + epsilon) for each row of a matrix, a warp to a row. On this operator
// docs/compile-flow.md shows what --use_fast_math does to instructions. A row ends with a square
// root and a division, and every element with a division.

__global__ void __launch_bounds__(256)
    normalise(int rows, int columns, float epsilon, const float* __restrict__ x,
              float* __restrict__ y) {
  const int row = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (row >= rows) return;
  const long long begin = static_cast<long long>(row) * columns;
  float squares = 0;
  for (int j = lane; j < columns; j += 32) squares += x[begin + j] * x[begin + j];
  for (int distance = 16; distance > 0; distance /= 2) {
    squares += __shfl_xor_sync(0xffffffff, squares, distance);
  }
  const float scale = sqrtf(squares / static_cast<float>(columns) + epsilon);
  for (int j = lane; j < columns; j += 32) y[begin + j] = x[begin + j] / scale;
}
