// One element more than the array has.
__global__ void smooth(const int* in, int* out) {
#ifdef CLEAN
  __shared__ int part[65];
#else
  __shared__ int part[64];
#endif
  part[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x == 0) part[64] = in[64];  // BUG
  __syncthreads();
  out[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + 1];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 65 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 65 * sizeof(int));
  smooth<<<1, 64>>>(in, out);
  cudaFree(in);
  cudaFree(out);
}
