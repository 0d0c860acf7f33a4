// The same launches again and again: what changes nothing may be left out, nothing else.
#include <cublas_v2.h>

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
__global__ void flush_between(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < 2000; ++i) sum += in[(threadIdx.x + i) % n] ^ i;
  out[threadIdx.x] = sum;
}
__global__ void fresh_input(const int* in, int* out) {
  for (int i = 0; i < 2000; ++i) out[threadIdx.x] = in[0] + i;
}
__global__ void copy_sums(const float* sums, int* out) {
  for (int i = 0; i < 2000; ++i) out[threadIdx.x] = static_cast<int>(sums[0]) + i;
}
__global__ void take_other(const int* pinned, int* out) { out[4] = pinned[0]; }

// A benchmark that wipes a buffer between launches, and copies what is there already.
static void wipe_between(const int* in, int* out) {
  int *buffer, host[64];
  cudaMalloc(&buffer, 4096);
  for (int i = 0; i < 50; ++i) {
    cudaMemset(buffer, 0, 4096);
    if (i % 2) cudaMemcpy(buffer, buffer + 64, 256, cudaMemcpyDeviceToDevice);
    flush_between<<<1, 64>>>(in, out, 64);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  }
  cudaFree(buffer);
}
// What changes without a launch must be seen. Returns the sum of what the launches found.
static int change_between(int* in, int* out, int* pinned) {
  int sum = 0, host[8];
  const auto look = [&](int at) {
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    sum += host[at];
  };
  for (int i = 0; i < 8; ++i) {
    const int value = i / 4;
    cudaMemcpy(in, &value, sizeof value, cudaMemcpyHostToDevice);
    fresh_input<<<1, 1>>>(in, out);
    look(0);
  }
  float* sums;
  cudaMalloc(&sums, sizeof(float));
  cudaMemset(sums, 0, sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1.0f;
  float host_one = 1.0f, *ones;
  cudaMalloc(&ones, sizeof(float));
  cudaMemcpy(ones, &host_one, sizeof host_one, cudaMemcpyHostToDevice);
  for (int i = 0; i < 8; ++i) {
    if (i % 4 == 3) cublasSaxpy(handle, 1, &one, ones, 1, sums, 1);
    copy_sums<<<1, 1>>>(sums, out);
    look(0);
  }
  cublasDestroy(handle);
  cudaFree(sums);
  cudaFree(ones);
  for (int i = 0; i < 8; ++i) {  // two kernels, of which each settles at another value
    pinned[0] = i / 4;
    take<<<1, 1>>>(pinned, out);
    take<<<1, 1>>>(pinned, out);
    look(2);
    pinned[0] = 5;
    take_other<<<1, 1>>>(pinned, out);
    take_other<<<1, 1>>>(pinned, out);
    look(4);
  }
  return sum;
}

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
  wipe_between(in, out);
  printf("%d\n", change_between(in, out, pinned));
  cudaFree(in);
  cudaFree(out);
  cudaFreeHost(pinned);
}
