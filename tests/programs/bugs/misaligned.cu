// A float4 at an odd place.
#ifdef CLEAN
constexpr int kFirst = 4;
#else
constexpr int kFirst = 2;
#endif

__global__ void copy(const float* from, float4* to) {
  to[threadIdx.x] = reinterpret_cast<const float4*>(from)[threadIdx.x];  // BUG
}

int main() {
  float *from, *to;
  cudaMalloc(&from, 256 * sizeof(float));
  cudaMalloc(&to, 256 * sizeof(float));
  cudaMemset(from, 0, 256 * sizeof(float));
  copy<<<1, 32>>>(from + kFirst, reinterpret_cast<float4*>(to));
  cudaFree(from);
  cudaFree(to);
}
