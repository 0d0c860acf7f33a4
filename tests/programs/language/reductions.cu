// Sums of tiles and of the lanes at one place, one block for each multiprocessor.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void sum(float* floats, int* ints) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const float x = 1.0f / static_cast<float>(threadIdx.x + 3);
  const float of_halves = cg::reduce(warp, x, cg::plus<float>());
  const int most = cg::reduce(warp, static_cast<int>(threadIdx.x) - 40, cg::greater<int>());
  if (threadIdx.x % 2) {
    const float in_order = cg::reduce(cg::coalesced_threads(), x, cg::plus<float>());
    if (threadIdx.x == 1) floats[1] = in_order;
  }
  const double next = __shfl_down_sync(~0u, 1.0 / (threadIdx.x + 3), 1);
  if (threadIdx.x == 0) floats[0] = of_halves;
  if (threadIdx.x == 0) ints[0] = next == 0.25 ? most : 0;
}

static float of_halves() {
  float x[32];
  for (int i = 0; i < 32; ++i) x[i] = 1.0f / static_cast<float>(i + 3);
  for (int half = 16; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) x[i] += x[i + half];
  }
  return x[0];
}

int main() {
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  float* floats;
  int* ints;
  cudaMallocManaged(&floats, 2 * sizeof(float));
  cudaMallocManaged(&ints, sizeof(int));
  sum<<<device.multiProcessorCount, 32>>>(floats, ints);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::puts(floats[0] == of_halves() && ints[0] == -9 ? "tiles ok" : "tiles differ");
  float of_odd = 0;
  for (int i = 1; i < 32; i += 2) of_odd += 1.0f / static_cast<float>(i + 3);
  std::puts(of_odd - floats[1] < 1e-6f && floats[1] - of_odd < 1e-6f ? "lanes ok" : "lanes differ");
}
