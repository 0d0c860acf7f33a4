// A tiled product of 32 × 32 matrices, tiles of 8 × 8 in dynamic shared memory, members of a
// struct.
#include "planted.hpp"

constexpr int kTile = 8, kSize = 32;
struct Matrix {
  float* data;
  __device__ float& at(int row, int column) const { return data[row * kSize + column]; }
};

__global__ void multiply(Matrix a, Matrix b, Matrix c, int bug) {
  extern __shared__ float tiles[];
  float *of_a = tiles, *of_b = tiles + kTile * kTile;
  const int x = threadIdx.x, y = threadIdx.y, here = y * kTile + x;
  const int row = blockIdx.y * kTile + y, column = blockIdx.x * kTile + x;
  float sum = 0;
  for (int k = 0; k < kSize; k += kTile) {
    // BUG kNotCopied multiply 0,3,0 0,7,0
    of_a[here] = a.at(row, k + x);
    if (bug != kUninitialised || y != 2) of_b[here] = b.at(k + y, column);
    // BUG kPastShared multiply 0,0,0 0,0,0
    if (bug == kPastShared && k == 8) of_b[here + 64] = 0;
    if (bug == kDivergentBarrier && x == 7) return;
    // BUG kDivergentBarrier multiply 0,0,0 0,0,0
    if (bug != kMissingBarrier) __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      sum +=
          // BUG kMissingBarrier multiply 0,0,0 0,0,0
          // BUG kUninitialised multiply 0,0,0 0,0,0
          of_a[y * kTile + i] * of_b[i * kTile + x];
    }
    __syncthreads();
  }
  if (bug == kRace) sum += of_a[3];
  // BUG kRace multiply 0,0,0 0,5,0
  if (bug == kRace && here == 40) of_a[3] = 0;
  const unsigned mask = bug == kWrongMask ? ~(1u << (here % 32)) : 0xffffffffu;
  // BUG kWrongMask multiply 0,0,0 0,0,0
  sum += __shfl_sync(mask, 0.0f, 0);
  if (bug == kMisaligned)
    // BUG kMisaligned multiply 0,0,0 1,0,0
    *reinterpret_cast<float4*>(&c.at(row, column)) = {};
  if (bug == kPastGlobal)
    // BUG kPastGlobal multiply 0,3,0 0,7,0
    sum = c.data[(row + 1) * kSize + column];
  // BUG kFreed multiply 0,0,0 0,0,0
  // BUG kHostPointer multiply 0,0,0 0,0,0
  c.data[row * kSize + column] = sum;
}

void run(int bug) {
  constexpr int kBytes = kSize * kSize * sizeof(float);
  const int copied = bug == kNotCopied ? 1000 : kSize * kSize;
  Matrix a{counted_up<float>(kSize * kSize, copied)}, b{counted_up<float>(kSize * kSize)};
  float *c, host[kSize][kSize];
  cudaMalloc((void**)&c, kBytes);
  cudaMemset(c, 0, kBytes);
  if (bug == kFreed) cudaFree(c);
  Matrix out{bug == kHostPointer ? host[0] : c};
  multiply<<<dim3(4, 4), dim3(kTile, kTile), 2 * kTile * kTile * sizeof(float)>>>(a, b, out, bug);
  // BUG kDevicePointer
  if (bug == kDevicePointer) host[0][0] = a.at(1, 1);
  const float* const from = bug == kWrongSize ? c + 4 : c;
  // BUG kWrongSize
  if (bug != kFreed) cudaMemcpy(host, from, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(a.data);
  cudaFree(b.data);
  if (bug != kFreed) cudaFree(c);
}

int main() { return run_each(run); }
