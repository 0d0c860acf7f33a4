// The result is read where only kernels may.
#include <cstdio>

__global__ void fill(float* data) { data[threadIdx.x] = 1.0f; }

int main() {
  float host[64], *device;
  cudaMalloc(&device, sizeof host);
  fill<<<1, 64>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
#ifdef CLEAN
  printf("%g\n", host[5]);
#else
  printf("%g\n", device[5]);  // BUG
#endif
  cudaFree(device);
}
