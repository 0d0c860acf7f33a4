// Half of the threads leave before the barrier.
__global__ void sum(float* data) {
  __shared__ float part[128];
  part[threadIdx.x] = data[threadIdx.x];
#ifndef CLEAN
  if (threadIdx.x >= 64) return;
#endif
  __syncthreads();  // BUG
  if (threadIdx.x < 64) data[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + 64];
}

int main() {
  float* data;
  cudaMalloc(&data, 128 * sizeof(float));
  cudaMemset(data, 0, 128 * sizeof(float));
  sum<<<1, 128>>>(data);
  cudaFree(data);
}
