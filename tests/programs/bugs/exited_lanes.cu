// A warp's vote names lanes that have left.
__global__ void vote(int* data, int n) {
#ifdef CLEAN
  const unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < n);
#else
  const unsigned mask = 0xffffffff;
#endif
  if (threadIdx.x >= n) return;
  const int any = __any_sync(mask, data[threadIdx.x]);  // BUG
  data[threadIdx.x] = any;
}

int main() {
  int* data;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  vote<<<1, 32>>>(data, 20);
  cudaFree(data);
}
