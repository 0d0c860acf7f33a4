// Sixteen bins of a block in shared memory, added to the grid's by atomics: two blocks of 96.
#include "planted.hpp"

constexpr int kBins = 16;

__device__ unsigned sum_of(uint2 pair) { return pair.x + pair.y; }

__global__ void histogram(const unsigned* in, unsigned* bins, int bug) {
  __shared__ unsigned own[kBins];
  const int t = threadIdx.x;
  if (t < kBins && bug != kUninitialised) own[t] = 0;
  if (bug == kDivergentBarrier && t / 32 == 1) return;
  // BUG kDivergentBarrier histogram 0,0,0 0,0,0
  if (bug != kMissingBarrier) __syncthreads();
  const unsigned* const from = in + blockIdx.x * blockDim.x;
  // BUG kNotCopied histogram 1,0,0 4,0,0
  // BUG kPastGlobal histogram 1,0,0 0,0,0
  unsigned value = from[bug == kPastGlobal ? t + 96 : t];
  if (bug == kMisaligned)
    // BUG kMisaligned histogram 0,0,0 1,0,0
    bins[0] = sum_of(*reinterpret_cast<const uint2*>(from + t));
  // BUG kPastShared histogram 0,0,0 0,0,0
  if (bug == kPastShared && t == 0) own[kBins] = 0;
  const unsigned mask = bug == kWrongMask ? 1u : 0xffffffffu;
  // BUG kWrongMask histogram 0,0,0 1,0,0
  value += __shfl_sync(mask, 0u, 0);
  // BUG kUninitialised histogram 0,0,0 4,0,0
  if (bug == kUninitialised && t == 4) own[4] += 1;
  if (bug == kMissingBarrier && t == 40)
    // BUG kMissingBarrier histogram 0,0,0 40,0,0
    bins[0] = own[3];
  if (bug == kMissingBarrier || bug == kUninitialised) return;
  // BUG kRace histogram 0,0,0 16,0,0
  atomicAdd(&own[value % kBins], 1u);
  if (bug != kRace) __syncthreads();
  if (t < kBins) value = own[t];
  if (t < kBins)
    // BUG kFreed histogram 0,0,0 0,0,0
    // BUG kHostPointer histogram 0,0,0 0,0,0
    atomicAdd(&bins[t], value);
}

void run(int bug) {
  unsigned *in = counted_up<unsigned>(192, bug == kNotCopied ? 100 : 192), *bins, host[kBins];
  cudaMalloc(&bins, sizeof host);
  cudaMemset(bins, 0, sizeof host);
  // BUG kWrongSize
  if (bug == kWrongSize) cudaMemset(bins, 0, 2 * sizeof host);
  if (bug == kFreed) cudaFree(bins);
  histogram<<<2, 96>>>(in, bug == kHostPointer ? host : bins, bug);
  if (bug == kDevicePointer) {
    // BUG kDevicePointer
    for (int i = 0; i < kBins; ++i) host[i] = bins[i];
  }
  cudaMemcpy(host, bug == kFreed ? in : bins, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(in);
  if (bug != kFreed) cudaFree(bins);
}

int main() { return run_each(run); }
