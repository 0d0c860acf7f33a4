// The reversal of a block without its barrier.
#include <cstdio>

__global__ void reverse(int* data) {
  extern __shared__ int part[];
  part[threadIdx.x] = data[threadIdx.x];
#ifdef CLEAN
  __syncthreads();
#endif
  data[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];  // BUG
}

int main() {
  int host[64], *data;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, 64, sizeof host>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d\n", host[0]);
  cudaFree(data);
}
