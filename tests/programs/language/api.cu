// The runtime API from a program's side: each line prints "NAME ok" or what went wrong.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>

#include <cassert>
#include <cmath>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

static void expect(const char* name, double got, double wanted) {
  if (std::fabs(got - wanted) <= 1e-3 * std::fabs(wanted)) {
    printf("%s ok\n", name);
  } else {
    printf("%s: %g instead of %g\n", name, got, wanted);
  }
}

__constant__ float factors[4];
__device__ int counter;
__managed__ int managed = 3;

__global__ void use_symbols(float* out) {
  out[threadIdx.x] = factors[threadIdx.x % 4];
  atomicAdd(&counter, managed);
}
static void symbols(float* device) {
  const float host[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(factors, host, sizeof host);
  use_symbols<<<1, 8>>>(device);
  float out[8];
  int count = 0;
  cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&count, counter, sizeof count);
  expect("constant memory", out[6], 3);
  expect("device variables", count, 24);
}

__global__ void sum_by_tiles(float* data) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const float sum = cg::reduce(tile, data[threadIdx.x], cg::plus<float>());
  cg::this_thread_block().sync();
  if (tile.thread_rank() == 0) data[tile.meta_group_rank()] = sum;
}
__global__ void count_the_odd(float* data) {
  if (threadIdx.x % 2) {
    const auto odd = cg::coalesced_threads();
    if (odd.thread_rank() == 0) data[0] = static_cast<float>(odd.size());
  }
}
static void groups(float* device) {
  std::vector<float> host(64);
  for (int i = 0; i < 64; ++i) host[i] = static_cast<float>(i);
  cudaMemcpy(device, host.data(), 64 * sizeof(float), cudaMemcpyHostToDevice);
  sum_by_tiles<<<1, 64>>>(device);
  cudaMemcpy(host.data(), device, 8 * sizeof(float), cudaMemcpyDeviceToHost);
  expect("tiles", host[1], 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15);
  count_the_odd<<<1, 32>>>(device);
  cudaMemcpy(host.data(), device, sizeof(float), cudaMemcpyDeviceToHost);
  expect("coalesced threads", host[0], 16);
}

template <class T>
__global__ void square_small(const float* in, float* out) {
  const T x = T(in[threadIdx.x]);
  out[threadIdx.x] = static_cast<float>(__hfma(x, x, T(1.0f)));
}
static void small_floats(float* device) {
  const float host[2] = {1.0f, 1.0f + 0x1p-9f};
  float out[2];
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  square_small<half><<<1, 2>>>(device, device + 8);
  cudaMemcpy(out, device + 8, sizeof out, cudaMemcpyDeviceToHost);
  expect("half", out[1], 2 + 0x1p-8);  // the last bit of 2.004 in half is 2^-9
  square_small<__nv_bfloat16><<<1, 2>>>(device, device + 8);
  cudaMemcpy(out, device + 8, sizeof out, cudaMemcpyDeviceToHost);
  expect("bfloat16", out[1], 2);  // 1 + 2^-9 is 1 in bfloat16
}

__global__ void read_texture(cudaTextureObject_t texture, float* out) {
  out[0] = tex2D<float>(texture, 0.5f, 0.5f);  // the centre of the first texel
  out[1] = tex2D<float>(texture, 1.0f, 0.5f);  // between the first two
  out[2] = tex2D<float>(texture, 9.5f, 0.5f);  // beyond the last, clamped
}
static void textures(float* device) {
  const float host[4] = {1, 3, 5, 7};
  cudaArray_t array;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaMallocArray(&array, &channels, 2, 2);
  cudaMemcpy2DToArray(array, 0, 0, host, 8, 8, 2, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
  description.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  read_texture<<<1, 1>>>(texture, device);
  float out[3];
  cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost);
  expect("texture", out[0], 1);
  expect("linear filter", out[1], 2);
  expect("clamp", out[2], 3);
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
}

__global__ void on_the_heap(float* out) {
  float* own = static_cast<float*>(malloc(4 * sizeof(float)));
  own[3] = static_cast<float>(threadIdx.x);
  out[threadIdx.x] = own[3];
  free(own);
  const long long begin = clock64();
  assert(clock64() >= begin);
  if (threadIdx.x == 0) printf("from a kernel ok\n");
}
__global__ void child(float* out) { out[threadIdx.x] += 1; }
__global__ void parent(float* out) {
  if (threadIdx.x == 0) child<<<1, 4>>>(out);
}
__global__ void roll_dice(float* out) {
  curandState state;
  curand_init(1234, threadIdx.x, 0, &state);
  float sum = 0;
  for (int i = 0; i < 1000; ++i) sum += curand_uniform(&state);
  out[threadIdx.x] = sum / 1000;
}
static void in_kernels(float* device) {
  float out[4];
  on_the_heap<<<1, 4>>>(device);
  parent<<<1, 4>>>(device);
  cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost);
  expect("heap and child kernels", out[3], 4);
  roll_dice<<<1, 4>>>(device);
  cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost);
  expect("random numbers", std::fabs(out[0] - 0.5f) < 0.05f && out[0] != out[1], 1);
}

static void library(float* device) {
  const float a[4] = {1, 2, 3, 4}, alpha = 1, beta = 0;  // columns (1, 2) and (3, 4)
  float c[4];
  cublasHandle_t handle;
  cublasCreate(&handle);
  cudaMemcpy(device, a, sizeof a, cudaMemcpyHostToDevice);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 2, 2, &alpha, device, 2, device, 2, &beta,
              device + 8, 2);
  cudaMemcpy(c, device + 8, sizeof c, cudaMemcpyDeviceToHost);
  expect("cublas", c[1], 2 * 1 + 4 * 3);

  const __half halves[4] = {a[0], a[1], a[2], a[3]};
  cudaMemcpy(device, halves, sizeof halves, cudaMemcpyHostToDevice);
  cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 2, &alpha, device, CUDA_R_16F, 2, device,
               CUDA_R_16F, 2, &beta, device + 8, CUDA_R_32F, 2, CUDA_R_32F, CUBLAS_GEMM_DEFAULT);
  cudaMemcpy(c, device + 8, sizeof c, cudaMemcpyDeviceToHost);
  expect("a product of halves", c[1], 3 * 1 + 4 * 2);

  const signed char bytes[8] = {1, 2, 3, 4, -5, 6, 7, -8};
  const int one = 1, zero = 0;
  int sums[8];
  cudaMemcpy(device, bytes, sizeof bytes, cudaMemcpyHostToDevice);
  cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, device, CUDA_R_8I, 2,
                             4, device, CUDA_R_8I, 2, 4, &zero, device + 8, CUDA_R_32I, 2, 4, 2,
                             CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT);
  cudaMemcpy(sums, device + 8, sizeof sums, cudaMemcpyDeviceToHost);
  expect("products of bytes", static_cast<float>(sums[6]), -5 * 7 + 7 * -8);
  cublasDestroy(handle);
}

__global__ void add_one(float* data) { data[threadIdx.x] += 1; }
static void host_side(float* device) {
  float* pinned;
  cudaMallocHost(&pinned, 4 * sizeof(float));
  for (int i = 0; i < 4; ++i) pinned[i] = 10;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(device, pinned, 4 * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaEvent_t forked;
  cudaEventCreate(&forked);
  cudaEventRecord(forked, stream);
  add_one<<<1, 4, 0, stream>>>(device);
  cudaStreamEndCapture(stream, &graph);
  std::size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  expect("nodes of a captured graph", static_cast<float>(nodes), 2);
  cudaGraphInstantiate(&runnable, graph, nullptr, nullptr, 0);
  cudaGraphLaunch(runnable, stream);
  cudaStreamSynchronize(stream);
  cudaMemcpy(pinned, device, 4 * sizeof(float), cudaMemcpyDeviceToHost);
  expect("graph and pinned memory", pinned[2], 11);
  add_one<<<1, 2000>>>(device);
  expect("launch errors", cudaGetLastError(), cudaErrorInvalidConfiguration);
  expect("errors are fetched once", cudaGetLastError() + 1, 1);
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 0);
  expect("occupancy", blocks, 8);
  cudaFreeHost(pinned);
}

int main(int argc, char** argv) {
  dim3 blockDim(32);  // as many a program calls it
  expect("arguments", argc, 3);
  expect("block", blockDim.x, argv[2][0] == '3' ? 32 : 0);
  float* device;
  cudaMalloc((void**)&device, 256 * sizeof(float));
  symbols(device);
  groups(device);
  small_floats(device);
  textures(device);
  in_kernels(device);
  library(device);
  host_side(device);
  cudaFree(device);
  return 7;
}
