// All lanes shuffle, but the mask names half of them.
#ifdef CLEAN
constexpr unsigned kMask = 0xffffffff;
#else
constexpr unsigned kMask = 0x0000ffff;
#endif

__global__ void sum(int* data) {
  int value = data[threadIdx.x];
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(kMask, value, step);  // BUG
  if (threadIdx.x == 0) data[0] = value;
}

int main() {
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  sum<<<1, 32>>>(data);
  cudaFree(data);
}
