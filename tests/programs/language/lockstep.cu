// Lanes that exchange values through volatile memory without __syncwarp(), as was common before
// CUDA 9. A GPU that runs a warp in lockstep gives the sums below.
#include <cstdio>

static void say(const char* what, bool ok) { std::printf("%s %s\n", what, ok ? "ok" : "WRONG"); }

template <class T>
__device__ void sum_of_warp(volatile T* part, unsigned t) {
  part[t] += part[t + 32];
  part[t] += part[t + 16];
  part[t] += part[t + 8];
  part[t] += part[t + 4];
  part[t] += part[t + 2];
  part[t] += part[t + 1];
}
__global__ void shared_sums(const int* in, int* out) {
  __shared__ int part[64 + 32];
  const unsigned t = threadIdx.x;
  part[t] = in[blockIdx.x * 64 + t];
  if (t < 32) part[64 + t] = 0;
  __syncthreads();
  if (t < 32) sum_of_warp(part, t);
  if (t == 0) out[blockIdx.x] = part[0];
}
// In global memory; the sum is kept in a register besides.
__global__ void global_sum(int* data, int* out) {
  const unsigned t = threadIdx.x;
  volatile int* seen = data;
  int mine = seen[t];
  for (unsigned step = 16; step > 0; step /= 2) {
    if (t < step) seen[t] = mine = mine + seen[t + step];
  }
  if (t == 0) *out = data[0];
}
// Half of the lanes go another way; then all load what all have stored.
__global__ void halves(int* out) {
  __shared__ volatile int seen[32];
  const int t = threadIdx.x;
  seen[t] = t;
  const int next = seen[(t + 1) % 32];
  if (t % 2) {
    seen[t] = next * 2;
  } else {
    seen[t]--;
  }
  out[t] = seen[(t + 1) % 32];
}

int main() {
  int *in, *out;
  cudaMallocManaged(&in, 256 * sizeof(int));
  cudaMallocManaged(&out, 32 * sizeof(int));
  for (int i = 0; i < 256; ++i) in[i] = i;
  shared_sums<<<4, 64>>>(in, out);
  cudaDeviceSynchronize();
  bool ok = true;
  for (int i = 0; i < 4; ++i) ok = ok && out[i] == 64 * 64 * i + 63 * 32;
  say("shared sums", ok);
  global_sum<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  say("a global sum", out[0] == 31 * 16);
  halves<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  ok = true;
  for (int i = 0; i < 32; ++i) {
    const int next = (i + 1) % 32;
    ok = ok && out[i] == (next % 2 ? (next + 1) % 32 * 2 : next - 1);
  }
  say("halves", ok);
  cudaFree(in);
  cudaFree(out);
}
