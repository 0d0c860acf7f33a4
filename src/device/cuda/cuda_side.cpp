#include "device/cuda/cuda_side.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "base/error.hpp"
#include "device/cuda/utility_kernels.hpp"

namespace warpladder::device::cuda {
namespace {

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // a sticky error would be blamed on the next call
  throw_resource(fmt::format("{} failed: {} ({})", what, cudaGetErrorString(result),
                             cudaGetErrorName(result)));
}

cudaStream_t as_stream(void* p) { return static_cast<cudaStream_t>(p); }
cudaEvent_t as_event(void* p) { return static_cast<cudaEvent_t>(p); }

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute");
  return value;
}

int capability() {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
         attribute(cudaDevAttrComputeCapabilityMinor);
}

std::string version(int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); }

}  // namespace

Availability availability() {
  static const Availability result = []() -> Availability {
    int count = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
      cudaGetLastError();
      return {false, fmt::format("CUDA finds no GPU: {}", cudaGetErrorString(error))};
    }
    if (count == 0) return {false, "CUDA finds no GPU"};
    const runtime::DeviceCode code = runtime::device_code();
    if (code.error == cudaErrorNoKernelImageForDevice ||
        code.error == cudaErrorInvalidDeviceFunction) {
      cudaGetLastError();
      return {false, fmt::format("the GPU has compute capability {}, for which this build holds no "
                                 "code; it was made for {}",
                                 capability_text(capability()), WARPLADDER_BUILT_FOR)};
    }
    check(static_cast<cudaError_t>(code.error), "loading this program's GPU code");
    return {true, ""};
  }();
  return result;
}

std::optional<GpuCode> gpu_code() {
  if (!availability().available) return std::nullopt;
  const runtime::DeviceCode code = runtime::device_code();
  const char* const force = std::getenv("CUDA_FORCE_PTX_JIT");
  return GpuCode{capability(),
                 code.capability,
                 code.hopper,
                 {WARPLADDER_MACHINE_CODE},
                 force && std::string_view(force) == "1"};
}

std::vector<Fact> facts() {
  if (!availability().available) return {};
  cudaDeviceProp p;
  check(cudaGetDeviceProperties(&p, 0), "cudaGetDeviceProperties");
  int runtime = 0, driver = 0;
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  const Ceilings most = ceilings();
  return {
      {"GPU", p.name},
      {"compute capability", fmt::format("{}.{}", p.major, p.minor)},
      {"code that runs", what_runs(*gpu_code())},
      {"CUDA runtime", version(runtime)},
      {"driver supports CUDA", version(driver)},
      {"multiprocessors", std::to_string(p.multiProcessorCount)},
      {"warps per multiprocessor", std::to_string(p.maxThreadsPerMultiProcessor / p.warpSize)},
      {"registers per multiprocessor", std::to_string(p.regsPerMultiprocessor)},
      {"shared memory per multiprocessor",
       fmt::format("{} KiB", p.sharedMemPerMultiprocessor / 1024)},
      {"shared memory per block, at most", fmt::format("{} KiB", p.sharedMemPerBlockOptin / 1024)},
      {"L2 cache", fmt::format("{} MiB", p.l2CacheSize >> 20)},
      {"memory", fmt::format("{:.1f} GiB", static_cast<double>(p.totalGlobalMem) / (1 << 30))},
      {"SM clock, at most", fmt::format("{} MHz", attribute(cudaDevAttrClockRate) / 1000)},
      {"memory clock", fmt::format("{} MHz", attribute(cudaDevAttrMemoryClockRate) / 1000)},
      {"fp32 multiply-adds, at most", fmt::format("{:.1f} TFLOP/s", most.fp32_flops_per_s * 1e-12)},
      {"memory bandwidth, at most", fmt::format("{:.0f} GB/s", most.memory_bytes_per_s * 1e-9)}};
}

void* create_stream() {
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return stream;
}
void destroy_stream(void* stream) noexcept { cudaStreamDestroy(as_stream(stream)); }
void synchronize(void* stream) { check(cudaStreamSynchronize(as_stream(stream)), "the kernel"); }

void* allocate(std::size_t bytes) {
  void* p = nullptr;
  check(cudaMalloc(&p, bytes), fmt::format("cudaMalloc of {} bytes", bytes).c_str());
  return p;
}
void release(void* pointer) noexcept { cudaFree(pointer); }
// Streams here do not wait for the default stream, so copies and fills wait for the whole device.
void fill(void* pointer, unsigned char byte, std::size_t bytes) {
  check(cudaDeviceSynchronize(), "a kernel before cudaMemset");
  check(cudaMemset(pointer, byte, bytes), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaMemset");
}
void copy_to_device(void* to, const void* from, std::size_t bytes) {
  check(cudaDeviceSynchronize(), "a kernel before cudaMemcpy");
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the device");
  check(cudaDeviceSynchronize(), "cudaMemcpy to the device");
}
void copy_to_host(void* to, const void* from, std::size_t bytes) {
  check(cudaDeviceSynchronize(), "a kernel before cudaMemcpy");
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
}

void copy_on_device(void* stream, void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, as_stream(stream)),
        "cudaMemcpyAsync");
}

void read(void* stream, const void* from, std::size_t bytes) {
  check(static_cast<cudaError_t>(launch_read(stream, from, bytes)),
        "the launch of a kernel that reads");
}
void fill_uniform(void* stream, float* to, std::size_t count, std::uint64_t seed, float low,
                  float high) {
  check(static_cast<cudaError_t>(launch_fill_uniform(stream, to, count, seed, low, high)),
        "the launch of a kernel that fills");
}

void* capture_graph(void* stream, const std::function<void()>& work, int times) {
  check(cudaStreamBeginCapture(as_stream(stream), cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  bool captured = true;
  try {
    for (int i = 0; i < times; ++i) work();
  } catch (const Error&) {
    captured = false;
  }
  cudaGraph_t graph = nullptr;
  captured = cudaStreamEndCapture(as_stream(stream), &graph) == cudaSuccess && captured;
  cudaGraphExec_t ready = nullptr;
  if (captured && cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess) ready = nullptr;
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();  // what could not be captured is not the next call's fault
  return ready;
}
void launch_graph(void* graph, void* stream) {
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), as_stream(stream)), "cudaGraphLaunch");
}
void destroy_graph(void* graph) noexcept {
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
}

void* create_event() {
  cudaEvent_t event;
  check(cudaEventCreate(&event), "cudaEventCreate");
  return event;
}
void destroy_event(void* event) noexcept { cudaEventDestroy(as_event(event)); }
void record_event(void* event, void* stream) {
  check(cudaEventRecord(as_event(event), as_stream(stream)), "cudaEventRecord");
}
bool has_passed(void* event) {
  const cudaError_t result = cudaEventQuery(as_event(event));
  if (result == cudaErrorNotReady) return false;
  check(result, "cudaEventQuery");
  return true;
}
double seconds_between(void* begin, void* end) {
  check(cudaEventSynchronize(as_event(end)), "cudaEventSynchronize");
  float ms = 0;
  check(cudaEventElapsedTime(&ms, as_event(begin), as_event(end)), "cudaEventElapsedTime");
  return std::round(ms * 1e7) / 1e10;  // a float's digits, and not a double's, in every report
}

Ceilings ceilings() {
  if (!availability().available) return {};
  const runtime::Machine& m = machine();
  return {m.fp32_flops_per_s, m.memory_bytes_per_s, m.f16_tensor_flops_per_s};
}
std::size_t l2_bytes() { return static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize)); }
void spin(void* stream, double seconds) {
  const double cycles = seconds * attribute(cudaDevAttrClockRate) * 1e3;
  check(static_cast<cudaError_t>(launch_spin(stream, static_cast<long long>(cycles))),
        "the launch of a spinning kernel");
}
void sweep(void* stream, const void* zeros, std::size_t bytes) {
  check(static_cast<cudaError_t>(launch_sweep(stream, zeros, bytes)),
        "the launch of a kernel that empties the cache");
}

const runtime::Machine& machine() {
  static const runtime::Machine machine = [] {
    int error = 0;
    const runtime::Machine found = runtime::machine_of(0, runtime::device_code(), &error);
    check(static_cast<cudaError_t>(error), "cudaDeviceGetAttribute");
    return found;
  }();
  return machine;
}
runtime::TensorMap encode(runtime::StreamView& stream, const runtime::TiledMatrix& matrix) {
  return runtime::gpu_encode(stream, matrix);
}
void throw_refused_launch(int error) {
  check(static_cast<cudaError_t>(error), "the launch of a kernel");
  throw std::logic_error("a launch that succeeded was called refused");
}

}  // namespace warpladder::device::cuda
