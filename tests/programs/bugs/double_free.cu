// Both owners free.
__global__ void fill(float* data) { data[threadIdx.x] = 1.0f; }

int main() {
  float* data;
  cudaMalloc(&data, 64 * sizeof(float));
  fill<<<1, 64>>>(data);
  cudaFree(data);
#ifndef CLEAN
  cudaFree(data);  // BUG
#endif
}
