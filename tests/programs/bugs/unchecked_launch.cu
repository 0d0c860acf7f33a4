// A block of too many threads: the launch fails, and nobody asks.
#ifdef CLEAN
constexpr int kThreads = 1024;
#else
constexpr int kThreads = 2048;
#endif

__global__ void fill(float* data) { data[threadIdx.x] = 1.0f; }

int main() {
  float* data;
  cudaMalloc(&data, 2048 * sizeof(float));
  fill<<<1, kThreads>>>(data);  // BUG
  cudaFree(data);
}
