// The last thread reaches past the end, in a header's kernel.
#include "kernels.cuh"

int main() {
  int* data;
  cudaMalloc(&data, 63 * sizeof(int));
  from_a_header<<<2, 32>>>(data, 1);
  cudaFree(data);
}
