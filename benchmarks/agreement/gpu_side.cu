#include <cuda_profiler_api.h>

#include <stdexcept>

#include "gpu_side.hpp"

namespace warpladder::agreement {
namespace {

__global__ void mark_kernel() {}

// Where to store and where to load comes from different arrays, so that nvcc keeps both accesses.
template <class T>
__global__ void bank_pattern(const int* store_at, const int* load_at, unsigned lanes, const T* in,
                             T* out) {
  __shared__ __align__(128) T tile[kElements];
  const int lane = static_cast<int>(threadIdx.x), to = store_at[lane], from = load_at[lane];
  T value = in[lane];
  const bool takes_part = lanes >> lane & 1;
  if (takes_part) tile[to] = value;
  __syncwarp();  // a lane may load what another has stored
  if (takes_part) value = tile[from];
  out[lane] = value;
}

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

struct Arrays {
  int *store_at = nullptr, *load_at = nullptr;
  void *in = nullptr, *out = nullptr;
  Arrays() {
    require(cudaMalloc(&store_at, kLanes * sizeof(int)));
    require(cudaMalloc(&load_at, kLanes * sizeof(int)));
    require(cudaMalloc(&in, kLanes * sizeof(float4)));
    require(cudaMalloc(&out, kLanes * sizeof(float4)));
    require(cudaMemset(in, 0, kLanes * sizeof(float4)));
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;
  ~Arrays() {
    cudaFree(store_at);
    cudaFree(load_at);
    cudaFree(in);
    cudaFree(out);
  }
};

template <class T>
void launch(const Arrays& a, unsigned lanes) {
  bank_pattern<T><<<1, kLanes>>>(a.store_at, a.load_at, lanes, static_cast<const T*>(a.in),
                                 static_cast<T*>(a.out));
  require(cudaGetLastError());
  require(cudaDeviceSynchronize());
}

}  // namespace

void begin_profile() {
  require(cudaDeviceSynchronize());
  require(cudaProfilerStart());
}

void end_profile() {
  require(cudaDeviceSynchronize());
  require(cudaProfilerStop());
}

void launch_mark(unsigned number) {
  mark_kernel<<<number + 1, 32>>>();
  require(cudaGetLastError());
  require(cudaDeviceSynchronize());
}

void launch_patterns(const std::vector<Pattern>& patterns) {
  const Arrays a;
  begin_profile();
  for (const Pattern& p : patterns) {
    for (int* at : {a.store_at, a.load_at}) {
      require(cudaMemcpy(at, p.at.data(), sizeof p.at, cudaMemcpyHostToDevice));
    }
    switch (p.bytes) {
      case 4:
        launch<float>(a, p.lanes);
        break;
      case 8:
        launch<float2>(a, p.lanes);
        break;
      default:
        launch<float4>(a, p.lanes);
    }
  }
  end_profile();
}

}  // namespace warpladder::agreement
