// A table of the device has fewer entries than threads ask for.
__device__ int table[16];
__constant__ int factors[4] = {1, 2, 3, 4};

__global__ void look_up(int* out) {
#ifdef CLEAN
  const int i = threadIdx.x % 16;
#else
  const int i = threadIdx.x;
#endif
  out[threadIdx.x] = table[i] * factors[threadIdx.x % 4];  // BUG
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  look_up<<<1, 32>>>(out);
  cudaFree(out);
}
