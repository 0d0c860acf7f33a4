// The device that a program sees: what the API says of it, and whether its answers agree.

#include <cstdio>
#include <cstring>

__global__ void fill(float* a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void exchange(float* a) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

int attribute(cudaDeviceAttr wanted) {
  int value = -1;
  cudaDeviceGetAttribute(&value, wanted, 0);
  return value;
}

int main() {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  printf("name: %s\n", p.name);
  printf("capability: %d.%d\n", p.major, p.minor);
  printf("multiprocessors: %d\n", p.multiProcessorCount);
  printf("threads: %d, blocks: %d\n", p.maxThreadsPerMultiProcessor, p.maxBlocksPerMultiProcessor);
  printf("shared: %zu, %zu\n", p.sharedMemPerMultiprocessor, p.sharedMemPerBlockOptin);
  printf("clocks: %d, %d\n", p.clockRate, p.memoryClockRate);
  printf("bus: %d, memory: %zu, L2: %d\n", p.memoryBusWidth, p.totalGlobalMem, p.l2CacheSize);
  const bool agree =
      attribute(cudaDevAttrMultiProcessorCount) == p.multiProcessorCount &&
      attribute(cudaDevAttrComputeCapabilityMajor) == p.major &&
      attribute(cudaDevAttrComputeCapabilityMinor) == p.minor &&
      attribute(cudaDevAttrMaxThreadsPerMultiProcessor) == p.maxThreadsPerMultiProcessor &&
      attribute(cudaDevAttrMaxBlocksPerMultiprocessor) == p.maxBlocksPerMultiProcessor &&
      attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) == (int)p.sharedMemPerBlockOptin &&
      attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) == (int)p.sharedMemPerMultiprocessor &&
      attribute(cudaDevAttrClockRate) == p.clockRate &&
      attribute(cudaDevAttrMemoryClockRate) == p.memoryClockRate &&
      attribute(cudaDevAttrGlobalMemoryBusWidth) == p.memoryBusWidth &&
      attribute(cudaDevAttrL2CacheSize) == p.l2CacheSize;
  printf("attributes agree: %d\n", agree);

  float* a;
  cudaMalloc(&a, 32 * sizeof(float));
  fill<<<1, 32>>>(a);
  exchange<<<1, 32, 32 * sizeof(float)>>>(a);
  cudaFree(a);

  int blocks = 0, most = 0, with_shared = 0, grid = 0, block = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, fill, 32, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_shared, exchange, 32, 20000);
  printf("at once: %d, %d, %d\n", blocks, most, with_shared);
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill, 0, 0);
  printf("best: %d of %d\n", grid, block);
  cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      &grid, &block, exchange, [](int threads) { return threads * sizeof(float); }, 128);
  printf("best up to 128: %d of %d\n", grid, block);

  int least = 1, greatest = 1, of_high = 1, of_other = 1;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStream_t high, other;
  cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest - 4);  // clamped
  cudaStreamCreate(&other);
  cudaStreamGetPriority(high, &of_high);
  cudaStreamGetPriority(other, &of_other);
  printf("priorities: %d to %d, %d and %d\n", least, greatest, of_high, of_other);
}
