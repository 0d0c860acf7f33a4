// The kernel writes what has been freed.
__global__ void fill(float* data) {
  data[threadIdx.x] = 1.0f;  // BUG
}

int main() {
  float* data;
  cudaMalloc(&data, 64 * sizeof(float));
#ifndef CLEAN
  cudaFree(data);
#endif
  fill<<<1, 64>>>(data);
#ifdef CLEAN
  cudaFree(data);
#endif
}
