// The host's array is handed to the kernel.
#include <vector>

__global__ void fill(float* data) {
  data[threadIdx.x] = 1.0f;  // BUG
}

int main() {
  std::vector<float> host(64);
  float* device;
  cudaMalloc(&device, 64 * sizeof(float));
#ifdef CLEAN
  fill<<<1, 64>>>(device);
#else
  fill<<<1, 64>>>(host.data());
#endif
  cudaFree(device);
}
