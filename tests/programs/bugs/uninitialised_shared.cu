// A histogram whose bins are never set to zero.
__global__ void histogram(const int* data, int* bins) {
  __shared__ int own[16];
#ifdef CLEAN
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
#endif
  atomicAdd(&own[data[threadIdx.x] & 15], 1);  // BUG
  __syncthreads();
  if (threadIdx.x < 16) bins[threadIdx.x] = own[threadIdx.x];
}

int main() {
  int *data, *bins;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMalloc(&bins, 16 * sizeof(int));
  cudaMemset(data, 1, 64 * sizeof(int));
  histogram<<<1, 64>>>(data, bins);
  cudaFree(data);
  cudaFree(bins);
}
