// What the drop-in for cuBLAS adds to a call on the host: cublasSgemm through it beside cublasSgemm
// itself, and beside warpladder_sgemm, in turns in one process.
//
//   LD_PRELOAD=libwarpladder_cublas.so cublas_shim [--json FILE]

#include <cublas_api.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "warpladder/warpladder.h"

namespace {

constexpr int kSamples = 41, kCalls = 100;  // a sample is so many calls, fewer than the queue holds

using Sgemm = decltype(&cublasSgemm_v2);

struct Row {
  std::string call, way;
  std::function<int()> run;
  std::vector<double> nanoseconds = {};  // of one call
};

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "cublas_shim: %s\n", why);
  std::exit(3);
}

double nanoseconds_of(const std::function<int()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < kCalls; ++call) {
    if (run() != 0) stop("a call fails");
  }
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begin;
  return elapsed.count() / kCalls;
}

double median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + kSamples / 2, samples.end());
  return samples[kSamples / 2];
}

void* open_cublas() {
  for (const char* const name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
    if (void* const cublas = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return cublas;
  }
  stop("no cuBLAS is found");
}

// cuBLAS's own function. dlsym() answers with the drop-in's; dlvsym() is not interposed.
void* original(void* cublas, const char* name) {
  for (const char* const version : {"libcublas.so.13", "libcublas.so.12"}) {
    if (void* const found = dlvsym(cublas, name, version)) return found;
  }
  stop("cuBLAS has no such function");
}

template <class Function>
Function function(void* cublas, const char* name) {
  return reinterpret_cast<Function>(original(cublas, name));
}

float* device_floats(std::size_t count) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, count * sizeof(float)) || cudaMemset(memory, 0, count * sizeof(float))) {
    stop("the GPU has no memory, or there is none");
  }
  return static_cast<float*>(memory);
}

void write_json(const char* path, const std::vector<Row>& rows, const char* gpu, int cublas) {
  std::FILE* const file = std::fopen(path, "w");
  if (!file) stop("the JSON file cannot be written");
  std::fprintf(file,
               "{\"program\": \"cublas_shim\", \"device\": \"%s\", \"cublas\": %d, \"rows\": [",
               gpu, cublas);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::fprintf(file, "%s\n{\"call\": \"%s\", \"way\": \"%s\", \"samples_ns\": [", i ? "," : "",
                 rows[i].call.c_str(), rows[i].way.c_str());
    for (int s = 0; s < kSamples; ++s) {
      std::fprintf(file, "%s%.1f", s ? ", " : "", rows[i].nanoseconds[static_cast<std::size_t>(s)]);
    }
    std::fprintf(file, "]}");
  }
  std::fprintf(file, "\n]}\n");
  std::fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  const bool json = argc == 3 && std::strcmp(argv[1], "--json") == 0;
  if (argc != 1 && !json) {
    std::fprintf(stderr, "usage: cublas_shim [--json FILE]\n");
    return 2;
  }
  void* const cublas = open_cublas();
  const auto theirs = function<Sgemm>(cublas, "cublasSgemm_v2");
  const auto through = reinterpret_cast<Sgemm>(dlsym(cublas, "cublasSgemm_v2"));
  if (theirs == through) stop("the drop-in is not preloaded");
  const auto ours =
      reinterpret_cast<decltype(&warpladder_sgemm)>(dlsym(RTLD_DEFAULT, "warpladder_sgemm"));
  const auto create =
      reinterpret_cast<decltype(&warpladder_create)>(dlsym(RTLD_DEFAULT, "warpladder_create"));

  float* const a = device_floats(1024 * 1024);
  float* const c = device_floats(1024 * 1024);
  cublasHandle_t exact = nullptr, tf32 = nullptr;
  warpladder_handle handle = nullptr;
  const auto make = function<decltype(&cublasCreate_v2)>(cublas, "cublasCreate_v2");
  if (make(&exact) || make(&tf32) || !create || create(&handle)) stop("a handle cannot be made");
  function<decltype(&cublasSetMathMode)>(cublas, "cublasSetMathMode")(tf32,
                                                                      CUBLAS_TF32_TENSOR_OP_MATH);
  static const float one = 1, zero = 0;
  const auto product = [&](Sgemm sgemm, cublasHandle_t with, int n) {
    return [=] {
      return static_cast<int>(sgemm(with, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a,
                                    std::max(n, 1), a, std::max(n, 1), &zero, c, std::max(n, 1)));
    };
  };
  const auto library = [=](int n) {
    return [=] {
      return static_cast<int>(ours(handle, WARPLADDER_COLUMN_MAJOR, WARPLADDER_OP_N,
                                   WARPLADDER_OP_N, n, n, n, 1.0f, a, n, a, n, 0.0f, c, n,
                                   nullptr));
    };
  };
  std::vector<Row> rows = {
      {"empty product: passed on", "cuBLAS", product(theirs, exact, 0)},
      {"empty product: passed on", "drop-in", product(through, exact, 0)},
      {"128x128x128, TF32 allowed: passed on", "cuBLAS", product(theirs, tf32, 128)},
      {"128x128x128, TF32 allowed: passed on", "drop-in", product(through, tf32, 128)},
      {"128x128x128: taken", "warpladder", library(128)},
      {"128x128x128: taken", "drop-in", product(through, exact, 128)},
      {"128x128x128: taken", "cuBLAS", product(theirs, exact, 128)},
      {"1024x1024x1024: taken", "warpladder", library(1024)},
      {"1024x1024x1024: taken", "drop-in", product(through, exact, 1024)},
      {"1024x1024x1024: taken", "cuBLAS", product(theirs, exact, 1024)},
  };
  for (int round = -1; round < kSamples; ++round) {  // the first loads kernels
    for (Row& row : rows) {
      const double nanoseconds = nanoseconds_of(row.run);
      if (cudaDeviceSynchronize() != cudaSuccess) stop("a kernel fails");
      if (round >= 0) row.nanoseconds.push_back(nanoseconds);
    }
  }
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, 0);
  int version = 0;
  function<decltype(&cublasGetVersion_v2)>(cublas, "cublasGetVersion_v2")(exact, &version);
  std::printf("%s, cuBLAS %d: median nanoseconds a call, on the host\n", properties.name, version);
  for (const Row& row : rows) {
    std::printf("%-40s %-10s %9.0f\n", row.call.c_str(), row.way.c_str(), median(row.nanoseconds));
  }
  if (json) write_json(argv[2], rows, properties.name, version);
}
