// The second buffer is never freed.
__global__ void fill(float* data) { data[threadIdx.x] = 1.0f; }

int main() {
  float *a, *b;
  cudaMalloc(&a, 64 * sizeof(float));
  cudaMalloc(&b, 64 * sizeof(float));  // BUG
  fill<<<1, 64>>>(a);
  fill<<<1, 64>>>(b);
  cudaFree(a);
#ifdef CLEAN
  cudaFree(b);
#endif
}
