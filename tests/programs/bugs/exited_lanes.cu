// A warp's shuffle reads from a lane that has left. The mask may name it.
__global__ void hand_on(int* data, int n) {
  if (threadIdx.x >= n) return;
#ifdef CLEAN
  const int last = n - 1;
#else
  const int last = 31;
#endif
  data[threadIdx.x] = __shfl_sync(0xffffffff, data[threadIdx.x], last);  // BUG
}

int main() {
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  hand_on<<<1, 32>>>(data, 20);
  cudaFree(data);
}
