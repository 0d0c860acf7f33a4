// Threads that wait for each other beyond __syncthreads: barriers of the grid, cuda::barrier,
// cuda::pipeline, cuda::atomic and a lock between warps. And graphs made node by node.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <numeric>
#include <vector>

namespace cg = cooperative_groups;

static void say(const char* what, bool ok) { std::printf("%s %s\n", what, ok ? "ok" : "WRONG"); }
template <class T>
static T* shared_array(std::size_t n) {
  T* p;
  cudaMallocManaged(&p, n * sizeof(T));
  return p;
}

// Each block keeps a sum in shared memory while the others run.
__global__ void sum_of_sums(const int* in, int* sums, int* out) {
  __shared__ int mine;
  extern __shared__ int each[];
  each[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    mine = 0;
    for (int i = 0; i < static_cast<int>(blockDim.x); ++i) mine += each[i];
    sums[blockIdx.x] = mine;
  }
  cg::this_grid().sync();
  int all = 0;
  for (int b = 0; b < static_cast<int>(gridDim.x); ++b) all += sums[b];
  cg::this_grid().sync();
  if (threadIdx.x == 0) out[blockIdx.x] = all - mine;
  if (threadIdx.x == 1) out[gridDim.x + blockIdx.x] = each[1];
}
static bool grid_is_right() {
  constexpr int kBlocks = 6, kThreads = 40;
  int *in = shared_array<int>(kBlocks * kThreads), *sums = shared_array<int>(kBlocks);
  int* out = shared_array<int>(2 * kBlocks);
  std::iota(in, in + kBlocks * kThreads, 1);
  void* arguments[] = {&in, &sums, &out};
  const cudaError_t error = cudaLaunchCooperativeKernel(
      (void*)sum_of_sums, dim3(kBlocks), dim3(kThreads), arguments, kThreads * sizeof(int), 0);
  cudaDeviceSynchronize();
  bool same = error == cudaSuccess;
  const int all = std::accumulate(in, in + kBlocks * kThreads, 0);
  for (int b = 0; b < kBlocks; ++b) {
    const int* first = in + b * kThreads;
    same = same && out[b] == all - std::accumulate(first, first + kThreads, 0);
    same = same && out[kBlocks + b] == first[1];
  }
  return same;
}
static bool too_many_are_refused() {
  int* none = nullptr;
  void* arguments[] = {&none, &none, &none};
  const cudaError_t error =
      cudaLaunchCooperativeKernel((void*)sum_of_sums, dim3(4096), dim3(1024), arguments, 0, 0);
  cudaGetLastError();
  return error != cudaSuccess;
}

// The first warp fills, the second one reads; half of the barrier's threads never wait at it.
__global__ void by_barrier(int* out) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ int data[32];
  __shared__ barrier filled, emptied;
  if (threadIdx.x == 0) {
    init(&filled, 64);
    init(&emptied, 64);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x < 32) {
      if (round) emptied.arrive_and_wait();
      data[lane] = 100 * round + lane;
      static_cast<void>(filled.arrive());
    } else {
      filled.arrive_and_wait();
      out[32 * round + lane] = data[31 - lane];
      if (round < 2) static_cast<void>(emptied.arrive());
    }
  }
}
static bool barrier_is_right() {
  int* out = shared_array<int>(96);
  by_barrier<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  bool same = true;
  for (int i = 0; i < 96; ++i) same = same && out[i] == 100 * (i / 32) + 31 - i % 32;
  return same;
}

template <bool of_block>
__global__ void by_pipeline(const int* in, int* out) {
  constexpr int kStages = 2;
  __shared__ int stage[kStages][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const int lane = threadIdx.x % 32;
  if constexpr (of_block) {
    const bool produces = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(
        cg::this_thread_block(), &state,
        produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int i = 0; i < 5; ++i) {
      if (produces) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stage[i % kStages][lane], &in[32 * i + lane], sizeof(int), pipe);
        pipe.producer_commit();
      } else {
        pipe.consumer_wait();
        out[32 * i + lane] = stage[i % kStages][31 - lane];
        pipe.consumer_release();
      }
    }
  } else {
    auto pipe = cuda::make_pipeline();
    for (int i = 0; i < 5; ++i) {
      for (int next = i ? i + 1 : 0; next < i + 2 && next < 5; ++next) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stage[next % kStages][lane], &in[32 * next + lane], sizeof(int), pipe);
        pipe.producer_commit();
      }
      if (i == 4) pipe.consumer_wait();
      if (i < 4) cuda::pipeline_consumer_wait_prior<1>(pipe);
      __syncwarp();
      out[32 * i + lane] = stage[i % kStages][31 - lane];
      __syncwarp();
      if (i < 4) pipe.consumer_release();
    }
  }
}
// The upper half of the block waits for itself.
__global__ void by_named_barriers(int* out) {
  __shared__ int part[128];
  const int t = threadIdx.x;
  part[t] = t;
  if (t >= 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = part[191 - t];
  } else {
    asm volatile("barrier.sync %0, %1;" ::"r"(2 + t / 32), "r"(32) : "memory");
    out[t] = part[t ^ 31];
  }
}
static bool named_barriers_are_right() {
  int* out = shared_array<int>(128);
  by_named_barriers<<<1, 128>>>(out);
  cudaDeviceSynchronize();
  bool same = true;
  for (int t = 0; t < 128; ++t) same = same && out[t] == (t < 64 ? t ^ 31 : 191 - t);
  return same;
}

__global__ void by_primitives(const int* in, int* out) {
  __shared__ alignas(16) int stage[2][32];
  const int lane = threadIdx.x;
  __pipeline_memcpy_async(&stage[0][lane], &in[lane], sizeof(int));
  __pipeline_commit();
  for (int i = 0; i < 5; ++i) {
    if (i < 4)
      __pipeline_memcpy_async(&stage[(i + 1) % 2][lane], &in[32 * (i + 1) + lane], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncwarp();
    out[32 * i + lane] = stage[i % 2][31 - lane];
    __syncwarp();
  }
}

static bool pipelines_are_right() {
  int *in = shared_array<int>(160), *out = shared_array<int>(160);
  std::iota(in, in + 160, 1000);
  bool same = true;
  for (const int kind : {0, 1, 2}) {
    std::fill(out, out + 160, 0);
    if (kind == 0) by_pipeline<false><<<1, 32>>>(in, out);
    if (kind == 1) by_pipeline<true><<<1, 64>>>(in, out);
    if (kind == 2) by_primitives<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 160; ++i) same = same && out[i] == 1000 + i / 32 * 32 + 31 - i % 32;
  }
  return same;
}

__global__ void count_in(cuda::atomic<int, cuda::thread_scope_device>* counter, int* held,
                         int* sum) {
  counter->fetch_add(2, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device>(*sum).fetch_max(static_cast<int>(threadIdx.x));
  // A lock that the warps hand each other.
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(held, 0, 1) != 0) {
    }
    sum[1] = sum[1] * 2 + 1;
    __nanosleep(20);
    atomicExch(held, 0);
  }
}
static bool atomics_are_right() {
  auto* counter = shared_array<cuda::atomic<int, cuda::thread_scope_device>>(1);
  int *held = shared_array<int>(1), *sum = shared_array<int>(2);
  count_in<<<2, 128>>>(counter, held, sum);
  cudaDeviceSynchronize();
  return counter->load() == 512 && sum[0] == 127 && sum[1] == 255;
}

__global__ void scale(float* data, float factor) { data[threadIdx.x] *= factor; }
static bool graph_is_right() {
  std::vector<float> given(32, 3), got(32);
  float *device, factor = 2;
  cudaMalloc(&device, 32 * sizeof(float));
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphNode_t in, kernel, out;
  cudaMemcpy3DParms copy = {0};
  copy.srcPtr = make_cudaPitchedPtr(given.data(), 32 * sizeof(float), 32, 1);
  copy.dstPtr = make_cudaPitchedPtr(device, 32 * sizeof(float), 32, 1);
  copy.extent = make_cudaExtent(32 * sizeof(float), 1, 1);
  copy.kind = cudaMemcpyHostToDevice;
  cudaGraphAddMemcpyNode(&in, graph, nullptr, 0, &copy);
  cudaKernelNodeParams launch = {0};
  void* arguments[] = {&device, &factor};
  launch.func = (void*)scale;
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(32);
  launch.kernelParams = arguments;
  cudaGraphAddKernelNode(&kernel, graph, &in, 1, &launch);
  cudaGraphAddMemcpyNode1D(&out, graph, &kernel, 1, got.data(), device, 32 * sizeof(float),
                           cudaMemcpyDeviceToHost);
  cudaGraphExec_t runnable;
  cudaGraphInstantiate(&runnable, graph, nullptr, nullptr, 0);
  cudaGraphLaunch(runnable, 0);
  const bool first = got == std::vector<float>(32, 6);
  factor = 5;
  cudaGraphExecKernelNodeSetParams(runnable, kernel, &launch);
  cudaGraphLaunch(runnable, 0);
  cudaFree(device);
  std::size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  return first && got == std::vector<float>(32, 15) && nodes == 3;
}

int main() {
  say("barriers of the grid", grid_is_right());
  say("too many blocks", too_many_are_refused());
  say("cuda::barrier", barrier_is_right());
  say("cuda::pipeline", pipelines_are_right());
  say("named barriers", named_barriers_are_right());
  say("cuda::atomic and a lock", atomics_are_right());
  say("a graph of nodes", graph_is_right());
}
