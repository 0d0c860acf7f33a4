// A grid of 67,584 threads that are all there at once. The last block lacks a barrier.
#include <cooperative_groups.h>

#include <cstdio>

__global__ void pass_on(int* out) {
  __shared__ int values[1024];
  const unsigned me = threadIdx.x;
  values[me] = 0;
  for (int i = 0; i < 3; ++i) values[me] += static_cast<int>(me);  // its own word, again and again
#ifdef CLEAN
  __syncthreads();
#else
  if (blockIdx.x < 65) __syncthreads();
#endif
  out[blockIdx.x * 1024 + me] = values[(me + 1023) % 1024];  // BUG
  cooperative_groups::this_grid().sync();
}

int main() {
  constexpr unsigned kBlocks = 66;
  int* out;
  cudaMalloc(&out, kBlocks * 1024 * sizeof(int));
  void* arguments[] = {&out};
  if (cudaLaunchCooperativeKernel((void*)pass_on, dim3(kBlocks), dim3(1024), arguments) !=
      cudaSuccess) {
    return 1;
  }
  int last;
  cudaMemcpy(&last, out + kBlocks * 1024 - 1, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%d\n", last);
  cudaFree(out);
}
