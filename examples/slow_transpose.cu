// A transpose that is right and slow: `warpladder explain examples/slow_transpose.cu` says why.
#include <cstdio>

constexpr int kRows = 300, kColumns = 500;

__global__ void transpose(const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < kRows && y < kColumns) out[y * kRows + x] = in[x * kColumns + y];
}

int main() {
  float *in, *out;
  cudaMallocManaged(&in, kRows * kColumns * sizeof(float));
  cudaMallocManaged(&out, kRows * kColumns * sizeof(float));
  for (int i = 0; i < kRows * kColumns; ++i) in[i] = i;
  transpose<<<dim3((kRows + 15) / 16, (kColumns + 15) / 16), dim3(16, 16)>>>(in, out);
  cudaDeviceSynchronize();
  for (int i = 0; i < kRows * kColumns; ++i) {
    if (out[i % kColumns * kRows + i / kColumns] != in[i]) return printf("wrong\n"), 1;
  }
  printf("ok\n");
  cudaFree(in);
  cudaFree(out);
}
