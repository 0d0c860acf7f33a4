// Kernels and host code that never end, by the program's argument.
#include <cstdio>
#include <cstring>

__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {  // KERNEL
  }
}

__global__ void multiply(float* x) {
  float sum = x[0];
  while (sum < 1e30f) sum = sum * 0.5f + 1;  // REGISTERS
  x[0] = sum;
}

__global__ void stay() {
  for (;;) {
  }
}

__global__ void meet(volatile int* flag) {
  while (*flag == 0) __syncthreads();  // BARRIER
}

int main(int, char** arguments) {
  const char* const which = arguments[1];
  int* flag;
  cudaMalloc(&flag, 32 * sizeof(int));
  fill<<<1, 32>>>(flag, 1);
  if (!strcmp(which, "host")) {
    volatile int go = 0;
    while (go == 0) {  // HOST
    }
  }
  wait_for<<<2, 32>>>(flag);
  fill<<<1, 32>>>(flag, 0);
  std::puts("begun");
  std::fflush(stdout);
  if (!strcmp(which, "kernel")) wait_for<<<1, 32>>>(flag);
  if (!strcmp(which, "repeat")) wait_for<<<2, 32>>>(flag);  // which is not looked at again
  if (!strcmp(which, "registers")) multiply<<<1, 32>>>(reinterpret_cast<float*>(flag));
  if (!strcmp(which, "nothing")) stay<<<1, 32>>>();
  if (!strcmp(which, "barrier")) meet<<<1, 64>>>(flag);
  cudaFree(flag);
}
