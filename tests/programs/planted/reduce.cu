// A tree of sums in a block of 128 threads, two blocks.
#include "planted.hpp"

__global__ void reduce(const int* in, int* out, int bug) {
  extern __shared__ int part[];
  const int t = threadIdx.x, half = blockDim.x / 2;
  // BUG kNotCopied reduce 1,0,0 72,0,0
  if (bug != kUninitialised || t != 70) part[t] = in[blockIdx.x * blockDim.x + t];
  // BUG kPastShared reduce 0,0,0 127,0,0
  if (bug == kPastShared && t == 127) part[t + 1] = 0;
  if (bug == kDivergentBarrier && t % 2) return;
  // BUG kDivergentBarrier reduce 0,0,0 0,0,0
  if (bug != kMissingBarrier) __syncthreads();
  if (t < half)
    // BUG kMissingBarrier reduce 0,0,0 0,0,0
    // BUG kUninitialised reduce 0,0,0 6,0,0
    part[t] += part[t + half];
  for (int step = half / 2; step >= 32; step /= 2) {
    __syncthreads();
    if (t < step) part[t] += part[t + step];
  }
  if (bug != kRace) __syncthreads();
  // BUG kRace reduce 0,0,0 64,0,0
  if (t == 64) part[0] += bug == kRace;
  __syncthreads();
  if (t >= 32) return;
  int sum = part[t];
  const unsigned mask = bug == kWrongMask ? 0x7fffffffu : 0xffffffffu;
  for (int step = 16; step > 0; step /= 2)
    // BUG kWrongMask reduce 0,0,0 31,0,0
    sum += __shfl_down_sync(mask, sum, step);
  if (bug == kMisaligned && t == 3)
    // BUG kMisaligned reduce 0,0,0 3,0,0
    *(long long*)(out + 1) = sum;
  if (bug == kPastGlobal && t == 9)
    // BUG kPastGlobal reduce 0,0,0 9,0,0
    out[gridDim.x + blockIdx.x] = 0;
  if (t == 0)
    // BUG kFreed reduce 0,0,0 0,0,0
    // BUG kHostPointer reduce 0,0,0 0,0,0
    out[blockIdx.x] = sum;
}

void run(int bug) {
  int *in = counted_up<int>(256, bug == kNotCopied ? 200 : 256), *out = counted_up<int>(2), host[4];
  if (bug == kFreed) cudaFree(out);
  reduce<<<2, 128, 128 * sizeof(int)>>>(in, bug == kHostPointer ? host : out, bug);
  // BUG kDevicePointer
  if (bug == kDevicePointer) host[1] = *out;
  // BUG kWrongSize
  cudaMemcpy(host, out, bug == kWrongSize ? 12 : 8, cudaMemcpyDeviceToHost);
  cudaFree(in);
  if (bug != kFreed) cudaFree(out);
}

int main() { return run_each(run); }
