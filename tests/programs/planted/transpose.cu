// Tiles of 8 × 8, transposed in shared memory: a matrix of 16 × 16, four blocks.
#include "planted.hpp"

constexpr int kTile = 8, kSize = 16;

template <class T>
__global__ void transpose(const T* in, T* out, int bug) {
  __shared__ T tile[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
  if (bug != kUninitialised || x != 3 || y != 5) {
    const int from = bug == kPastGlobal && row == 15 ? row + 1 : row;
    // BUG kNotCopied transpose<float> 0,1,0 0,5,0
    // BUG kPastGlobal transpose<float> 0,1,0 0,7,0
    tile[y][x] = in[from * kSize + column];
  }
  const int past = bug == kPastShared && x == 7 && y == 7;
  // BUG kPastShared transpose<float> 0,0,0 7,7,0
  if (past) tile[kTile][0] = 0;
  if (bug == kDivergentBarrier && y < 4) return;
  if (bug != kMissingBarrier)
    // BUG kDivergentBarrier transpose<float> 0,0,0 0,4,0
    __syncthreads();
  // BUG kMissingBarrier transpose<float> 0,0,0 1,0,0
  // BUG kUninitialised transpose<float> 0,0,0 5,3,0
  const T value = tile[x][y];
  // BUG kRace transpose<float> 0,0,0 0,4,0
  if (bug == kRace && y == 4) tile[0][x] = 0;
  const unsigned mask = bug == kWrongMask && y >= 4 ? 0xffffu : 0xffffffffu;
  // BUG kWrongMask transpose<float> 0,0,0 0,6,0
  const int any = __any_sync(mask, value < 0);
  T* const to = out + (blockIdx.x * kTile + y) * kSize + blockIdx.y * kTile + x;
  if (bug == kMisaligned && x == 1)
    // BUG kMisaligned transpose<float> 0,0,0 1,0,0
    *reinterpret_cast<float4*>(to) = {};
  // BUG kFreed transpose<float> 0,0,0 0,0,0
  // BUG kHostPointer transpose<float> 0,0,0 0,0,0
  *to = value + any;
}

void run(int bug) {
  constexpr int kBytes = kSize * kSize * sizeof(float);
  float *in = counted_up<float>(kSize * kSize, bug == kNotCopied ? 200 : kSize * kSize),
        *out = counted_up<float>(kSize * kSize);
  std::vector<float> host(2 * kSize * kSize);
  if (bug == kFreed) cudaFree(out);
  transpose<float>
      <<<dim3(2, 2), dim3(kTile, kTile)>>>(in, bug == kHostPointer ? host.data() : out, bug);
  // BUG kDevicePointer
  if (bug == kDevicePointer) out[7] = 1;
  // BUG kWrongSize
  cudaMemcpy(in, out, bug == kWrongSize ? kBytes + 4 : kBytes, cudaMemcpyDeviceToDevice);
  cudaFree(in);
  if (bug != kFreed) cudaFree(out);
}

int main() { return run_each(run); }
