// The same launches again and again: what changes nothing may be left out, nothing else.
#include <cstdio>

__global__ void scale(const int* in, int* out) {
  int sum = 0;
  for (int i = 0; i < 2000; ++i) sum += in[(threadIdx.x + i) % 64] * i;
  out[threadIdx.x] = sum;
}
__global__ void count(int* data) {
  if (threadIdx.x == 0) ++data[0];
}
__global__ void say(int* data) {
  if (threadIdx.x == 0) printf("said\n");
  data[1] = 5;
}
__device__ int hidden;
__global__ void count_hidden() { hidden = hidden + 1; }
__global__ void take(const int* pinned, int* out) { out[2] = pinned[0]; }

int main() {
  int *in, *out, *pinned, host[4];
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMallocHost(&pinned, sizeof(int));
  cudaMemset(in, 1, 64 * sizeof(int));
  cudaMemset(out, 0, 64 * sizeof(int));
  for (int i = 0; i < 50; ++i) scale<<<1, 64>>>(in, out);
  cudaMemset(out, 0, 64 * sizeof(int));
  for (int i = 0; i < 50; ++i) count<<<1, 32>>>(out);
  for (int i = 0; i < 5; ++i) say<<<1, 1>>>(out);
  for (int i = 0; i < 9; ++i) count_hidden<<<1, 1>>>();
  for (int i = 0; i < 6; ++i) {
    pinned[0] = i / 3;  // no call says so
    take<<<1, 1>>>(pinned, out);
  }
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  int seen = 0;
  cudaMemcpyFromSymbol(&seen, hidden, sizeof seen);
  printf("%d %d %d %d\n", host[0], host[1], host[2], seen);
  cudaFree(in);
  cudaFree(out);
  cudaFreeHost(pinned);
}
