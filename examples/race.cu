// A block-wise sum whose last barrier is missing: `warpladder check examples/race.cu` names the line.
#include <cstdio>

constexpr int kThreads = 128;

__global__ void sum_of_blocks(const float* in, float* out) {
  __shared__ float part[kThreads];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * kThreads + t];
  for (int step = kThreads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (t < step) part[t] += part[t + step];
  }
  if (t == kThreads - 1) out[blockIdx.x] = part[0];  // thread 0 has only just written it
}

int main() {
  constexpr int kBlocks = 4;
  float host[kBlocks * kThreads], *in, *out;
  for (float& x : host) x = 0.5f;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, kBlocks * sizeof(float));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum_of_blocks<<<kBlocks, kThreads>>>(in, out);
  cudaMemcpy(host, out, kBlocks * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g %g %g %g\n", host[0], host[1], host[2], host[3]);
  cudaFree(in);
  cudaFree(out);
}
