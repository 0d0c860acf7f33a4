// A reduction from before CUDA 9: volatile, and no __syncwarp() between the steps.
#ifdef CLEAN
#define MEET() __syncwarp()
#else
#define MEET()
#endif

__device__ void sum_of_warp(volatile int* part, int t) {
  for (int step = 16; step > 0; step /= 2) {
    const int other = part[t + step];
    MEET();
    part[t] += other;  // BUG
    MEET();
  }
}

__global__ void sum(int* data) {
  __shared__ int part[32 + 16];
  part[threadIdx.x] = data[threadIdx.x];
  if (threadIdx.x < 16) part[32 + threadIdx.x] = 0;
  __syncthreads();
  sum_of_warp(part, threadIdx.x);
  if (threadIdx.x == 0) data[0] = part[0];
}

int main() {
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  sum<<<1, 32>>>(data);
  cudaFree(data);
}
