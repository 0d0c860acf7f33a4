// Elements are taken for bytes, the wrong way round.
__global__ void fill(double* data) { data[threadIdx.x] = 1.0; }

int main() {
  static double host[256];
  double* device;
  cudaMalloc(&device, 64 * sizeof(double));
  fill<<<1, 64>>>(device);
#ifdef CLEAN
  cudaMemcpy(host, device, 64 * sizeof(double), cudaMemcpyDeviceToHost);
#else
  cudaMemcpy(host, device, 256 * sizeof(double), cudaMemcpyDeviceToHost);  // BUG
#endif
  cudaFree(device);
}
