#include <cooperative_groups.h>
__global__ void all(int* data) {
  cooperative_groups::this_grid().sync();
  data[threadIdx.x] = 1;
}
int main(int argc, char**) {
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));
  all<<<argc, 32>>>(data);
  cudaFree(data);
}
