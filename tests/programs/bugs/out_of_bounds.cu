// The last block reaches past the end.
template <class T>
__global__ void scale(T* data, int n, T factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef CLEAN
  if (i >= n) return;
#endif
  data[i] *= factor;  // BUG
}

int main() {
  const int n = 1000;
  float* data;
  cudaMalloc(&data, n * sizeof(float));
  cudaMemset(data, 0, n * sizeof(float));
  scale<<<(n + 127) / 128, 128>>>(data, n, 2.0f);
  cudaFree(data);
}
