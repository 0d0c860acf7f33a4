// A stencil of three points with its halo in shared memory, blocks of 64 threads over 256 values.
#include "planted.hpp"

constexpr int kThreads = 64;

__global__ void stencil(const float* in, float* out, int n, int bug) {
  __shared__ float part[kThreads + 2];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  // BUG kNotCopied stencil 2,0,0 2,0,0
  // BUG kPastGlobal stencil 3,0,0 0,0,0
  part[t + 1] = in[i + (bug == kPastGlobal ? kThreads : 0)];
  if (t == 0) part[0] = i ? in[i - 1] : 0;
  if (t == kThreads - 1 && bug != kUninitialised) part[t + 2] = i + 1 < n ? in[i + 1] : 0;
  // BUG kPastShared stencil 0,0,0 5,0,0
  if (bug == kPastShared && t == 5) part[t + kThreads] = 1;
  if (bug == kDivergentBarrier && t >= 32) return;
  // BUG kDivergentBarrier stencil 0,0,0 0,0,0
  if (bug != kMissingBarrier) __syncthreads();
  float sum = part[t] + part[t + 1];
  // BUG kMissingBarrier stencil 0,0,0 0,0,0
  // BUG kUninitialised stencil 0,0,0 63,0,0
  sum += part[t + 2];
  // BUG kRace stencil 0,0,0 32,0,0
  if (bug == kRace && t == 32) part[10] = sum;
  if (bug == kMisaligned)
    // BUG kMisaligned stencil 0,0,0 0,0,0
    *reinterpret_cast<float2*>(out + i + 1) = {};
  const unsigned mask = bug == kWrongMask ? 0xfffffff0u : 0xffffffffu;
  // BUG kWrongMask stencil 0,0,0 0,0,0
  sum += __shfl_xor_sync(mask, sum, 1);
  // BUG kFreed stencil 0,0,0 0,0,0
  // BUG kHostPointer stencil 0,0,0 0,0,0
  out[i] = sum;
}

void run(int bug) {
  const int n = 4 * kThreads;
  float *in = counted_up<float>(n, bug == kNotCopied ? 130 : n), *out = counted_up<float>(n);
  std::vector<float> host(n);
  if (bug == kFreed) cudaFree(out);
  stencil<<<n / kThreads, kThreads>>>(in, bug == kHostPointer ? host.data() : out, n, bug);
  // BUG kDevicePointer
  if (bug == kDevicePointer) host[0] = out[0];
  const int count = bug == kWrongSize ? 2 * n : n;
  host.resize(count);
  // BUG kWrongSize
  cudaMemcpy(host.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  if (bug != kFreed) cudaFree(out);
}

int main() { return run_each(run); }
