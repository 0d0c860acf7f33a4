// What the drop-in for cuBLAS adds to a call on the host. Calls through it run beside cuBLAS's own,
// and beside warpladder_sgemm, in turns in one process.
//
//   LD_PRELOAD=libwarpladder_cublas.so cublas_shim [--json FILE]

#include <cublasLt.h>
#include <cublas_api.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "warpladder/warpladder.h"

namespace {

// A sample is so many calls, fewer than the queue holds. The calls in front of them find caches as
// another row's calls have left them, and are not timed.
constexpr int kSamples = 401, kCalls = 100, kWarmCalls = 10;
constexpr int kSide = 1024, kSmall = 128, kBatch = 8;
constexpr std::size_t kWorkspaceBytes = std::size_t{4} << 20;
constexpr float kOne = 1, kZero = 0;

struct Row {
  std::string call, way;
  std::function<int()> run;
  std::vector<double> nanoseconds = {};  // of one call
};

[[noreturn]] void stop(const char* why) {
  std::fprintf(stderr, "cublas_shim: %s\n", why);
  std::exit(3);
}

// ---- the functions of cuBLAS, and the drop-in's

void* open(const char* base) {
  for (const char* const version : {".so.13", ".so.12", ".so"}) {
    const std::string name = std::string(base) + version;
    if (void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  stop("no cuBLAS is found");
}

// cuBLAS's own function. dlsym() answers with the drop-in's; dlvsym() is not interposed.
void* original(void* library, const char* name) {
  for (const char* const version :
       {"libcublas.so.13", "libcublas.so.12", "libcublasLt.so.13", "libcublasLt.so.12"}) {
    if (void* const found = dlvsym(library, name, version)) return found;
  }
  stop("cuBLAS has no such function");
}

template <class Function>
Function function(void* library, const char* name) {
  return reinterpret_cast<Function>(original(library, name));
}

template <class Function>
struct Both {
  Function cublas, drop_in;
  Both(void* library, const char* name)
      : cublas(function<Function>(library, name)),
        drop_in(reinterpret_cast<Function>(dlsym(library, name))) {
    if (cublas == drop_in) stop("the drop-in is not preloaded");
  }
};

template <class Function>
Function ours(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  if (!found) stop("libwarpladder is not loaded");
  return reinterpret_cast<Function>(found);
}

// ---- what the calls work on

void* device_memory(std::size_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) || cudaMemset(memory, 0, bytes)) {
    stop("the GPU has no memory, or there is none");
  }
  return memory;
}
float* device_floats(std::size_t count) {
  return static_cast<float*>(device_memory(count * sizeof(float)));
}

struct Operands {
  void* cublas = open("libcublas");
  float* a = device_floats(kSide * kSide);
  float* c = device_floats(kSide * kSide);
  float* scalars = device_floats(2);  // one and zero
  cublasHandle_t exact = nullptr, tf32 = nullptr, device_scalars = nullptr;

  Operands() {
    const auto make = function<decltype(&cublasCreate_v2)>(cublas, "cublasCreate_v2");
    const auto set_math = function<decltype(&cublasSetMathMode)>(cublas, "cublasSetMathMode");
    const auto set_pointers =
        function<decltype(&cublasSetPointerMode_v2)>(cublas, "cublasSetPointerMode_v2");
    const bool made = !make(&exact) && !make(&tf32) && !make(&device_scalars) &&
                      !set_math(tf32, CUBLAS_TF32_TENSOR_OP_MATH) &&
                      !set_pointers(device_scalars, CUBLAS_POINTER_MODE_DEVICE);
    if (!made) stop("a handle cannot be made");
    if (cudaMemcpy(scalars, &kOne, sizeof kOne, cudaMemcpyHostToDevice)) {
      stop("the GPU takes no copy");
    }
  }
};

// ---- the rows

// A call in both ways. `bind` (Function) → a callable that calls it once and returns its status.
template <class Function, class Bind>
void add(std::vector<Row>& rows, const char* call, const Both<Function>& both, const Bind& bind) {
  rows.push_back({call, "cuBLAS", bind(both.cublas)});
  rows.push_back({call, "drop-in", bind(both.drop_in)});
}

void add_sgemm(std::vector<Row>& rows, const Operands& on) {
  using Sgemm = decltype(&cublasSgemm_v2);
  const Both<Sgemm> sgemm(on.cublas, "cublasSgemm_v2");
  const auto product = [&on](cublasHandle_t handle, int n) {
    const bool on_device = handle == on.device_scalars;
    const float* const alpha = on_device ? on.scalars : &kOne;
    const float* const beta = on_device ? on.scalars + 1 : &kZero;
    return [=, a = on.a, c = on.c, ld = std::max(n, 1)](Sgemm call) {
      return [=] {
        return static_cast<int>(
            call(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, alpha, a, ld, a, ld, beta, c, ld));
      };
    };
  };
  add(rows, "empty product: passed on", sgemm, product(on.exact, 0));
  add(rows, "128x128x128, TF32 allowed: passed on", sgemm, product(on.tf32, kSmall));
  add(rows, "128x128x128, scalars on the device: passed on", sgemm,
      product(on.device_scalars, kSmall));

  const auto warpladder = ours<decltype(&warpladder_sgemm)>("warpladder_sgemm");
  warpladder_handle handle = nullptr;
  if (ours<decltype(&warpladder_create)>("warpladder_create")(&handle)) {
    stop("a handle cannot be made");
  }
  for (const int n : {kSmall, kSide}) {
    const std::string size = std::to_string(n);
    const std::string call = size + "x" + size + "x" + size + ": taken";
    add(rows, call.c_str(), sgemm, product(on.exact, n));
    rows.push_back({call, "warpladder", [=, a = on.a, c = on.c] {
                      return static_cast<int>(warpladder(handle, WARPLADDER_COLUMN_MAJOR,
                                                         WARPLADDER_OP_N, WARPLADDER_OP_N, n, n, n,
                                                         1.0f, a, n, a, n, 0.0f, c, n, nullptr));
                    }});
  }
}

void add_gemm_ex(std::vector<Row>& rows, const Operands& on) {
  using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                    int, const void*, const void*, cudaDataType, int, const void*,
                                    cudaDataType, int, const void*, void*, cudaDataType, int,
                                    cublasComputeType_t, cublasGemmAlgo_t);  // one overload
  const Both<GemmEx> gemm_ex(on.cublas, "cublasGemmEx");
  const auto product = [&on](cublasComputeType_t compute) {
    return [=, &on](GemmEx call) {
      return [=, handle = on.exact, a = on.a, c = on.c] {
        return static_cast<int>(call(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSmall, kSmall, kSmall,
                                     &kOne, a, CUDA_R_32F, kSmall, a, CUDA_R_32F, kSmall, &kZero, c,
                                     CUDA_R_32F, kSmall, compute, CUBLAS_GEMM_DEFAULT));
      };
    };
  };
  add(rows, "cublasGemmEx 128x128x128: taken", gemm_ex, product(CUBLAS_COMPUTE_32F));
  add(rows, "cublasGemmEx 128x128x128, TF32: passed on", gemm_ex,
      product(CUBLAS_COMPUTE_32F_FAST_TF32));
}

void add_batches_and_vectors(std::vector<Row>& rows, const Operands& on) {
  using Strided = decltype(&cublasSgemmStridedBatched);
  add(rows, "cublasSgemmStridedBatched 8x128x128x128: taken",
      Both<Strided>(on.cublas, "cublasSgemmStridedBatched"), [&on](Strided call) {
        return [=, handle = on.exact, a = on.a, c = on.c] {
          constexpr long long kStride = kSmall * kSmall;
          return static_cast<int>(call(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSmall, kSmall, kSmall,
                                       &kOne, a, kSmall, kStride, a, kSmall, kStride, &kZero, c,
                                       kSmall, kStride, kBatch));
        };
      });
  using Sgemv = decltype(&cublasSgemv_v2);
  add(rows, "cublasSgemv 1024x1024: taken", Both<Sgemv>(on.cublas, "cublasSgemv_v2"),
      [&on](Sgemv call) {
        return [=, handle = on.exact, a = on.a, c = on.c] {
          return static_cast<int>(
              call(handle, CUBLAS_OP_N, kSide, kSide, &kOne, a, kSide, a, 1, &kZero, c, 1));
        };
      });
}

// A product of cublasLt's with the algorithm that it recommends, as PyTorch calls it.
struct LtProduct {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtMatmulAlgo_t algorithm{};

  LtProduct(void* lt, cublasLtHandle_t handle, cublasLtEpilogue_t epilogue, const float* bias) {
#define OF_LT(name) function<decltype(&name)>(lt, #name)
    const auto set = OF_LT(cublasLtMatmulDescSetAttribute);
    const bool described =
        !OF_LT(cublasLtMatmulDescCreate)(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F) &&
        !OF_LT(cublasLtMatrixLayoutCreate)(&layout, CUDA_R_32F, kSmall, kSmall, kSmall) &&
        !set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue) &&
        !set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    const bool known =
        described && !OF_LT(cublasLtMatmulPreferenceCreate)(&preference) &&
        !OF_LT(cublasLtMatmulPreferenceSetAttribute)(preference,
                                                     CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                     &kWorkspaceBytes, sizeof kWorkspaceBytes) &&
        !OF_LT(cublasLtMatmulAlgoGetHeuristic)(handle, operation, layout, layout, layout, layout,
                                               preference, 1, &best, &found);
    if (!known || found == 0) stop("cublasLt knows no algorithm");
    OF_LT(cublasLtMatmulPreferenceDestroy)(preference);
    algorithm = best.algo;
  }
};

void add_lt(std::vector<Row>& rows, const Operands& on) {
  using Matmul = decltype(&cublasLtMatmul);
  void* const lt = open("libcublasLt");
  const Both<Matmul> matmul(lt, "cublasLtMatmul");
  cublasLtHandle_t handle = nullptr;
  if (OF_LT(cublasLtCreate)(&handle)) stop("a handle cannot be made");
  void* const workspace = device_memory(kWorkspaceBytes);
  const auto product = [=, &on](cublasLtEpilogue_t epilogue) {
    return [=, &on, p = LtProduct(lt, handle, epilogue, on.a)](Matmul call) {
      return [=, a = on.a, c = on.c] {
        return static_cast<int>(call(handle, p.operation, &kOne, a, p.layout, a, p.layout, &kZero,
                                     c, p.layout, c, p.layout, &p.algorithm, workspace,
                                     kWorkspaceBytes, nullptr));
      };
    };
  };
  add(rows, "cublasLtMatmul 128x128x128, bias: taken", matmul, product(CUBLASLT_EPILOGUE_BIAS));
  add(rows, "cublasLtMatmul 128x128x128, bias, ReLU: passed on", matmul,
      product(CUBLASLT_EPILOGUE_RELU_BIAS));
}

// ---- times

void call_often(const Row& row, int calls) {
  for (int call = 0; call < calls; ++call) {
    if (const int status = row.run(); status != 0) {
      stop((row.call + ", " + row.way + ", fails: " + std::to_string(status)).c_str());
    }
  }
}

double nanoseconds_of(const Row& row) {
  call_often(row, kWarmCalls);
  const auto begin = std::chrono::steady_clock::now();
  call_often(row, kCalls);
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begin;
  if (cudaDeviceSynchronize() != cudaSuccess) stop("a kernel fails");
  return elapsed.count() / kCalls;
}

// The ways of one call lie beside each other in `rows`, and are timed one behind the other. In each
// round another one is the first: that one pays for what the call before has left.
void sample(std::vector<Row>& rows, std::size_t round) {
  for (std::size_t begin = 0, ways = 0; begin < rows.size(); begin += ways) {
    ways = 1;
    while (begin + ways < rows.size() && rows[begin + ways].call == rows[begin].call) ++ways;
    for (std::size_t i = 0; i < ways; ++i) {
      Row& row = rows[begin + (i + round) % ways];
      row.nanoseconds.push_back(nanoseconds_of(row));
    }
  }
}

struct Median {
  double value, doubt;  // doubt: half of the interval that holds it with 95 %
};
Median median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  const auto step =
      static_cast<std::size_t>(std::ceil(0.98 * std::sqrt(static_cast<double>(samples.size()))));
  return {samples[middle], (samples[middle + step] - samples[middle - step]) / 2};
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
    const char* comma = "";
    for (const double nanoseconds : rows[i].nanoseconds) {
      std::fprintf(file, "%s%.1f", comma, nanoseconds);
      comma = ", ";
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
  const Operands on;
  std::vector<Row> rows;
  add_sgemm(rows, on);
  add_gemm_ex(rows, on);
  add_batches_and_vectors(rows, on);
  add_lt(rows, on);
  for (const Row& row : rows) nanoseconds_of(row);  // loads kernels
  for (std::size_t round = 0; round < kSamples; ++round) sample(rows, round);

  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, 0);
  int version = 0;
  function<decltype(&cublasGetVersion_v2)>(on.cublas, "cublasGetVersion_v2")(on.exact, &version);
  std::printf("%s, cuBLAS %d: median nanoseconds a call, on the host\n", properties.name, version);
  for (const Row& row : rows) {
    const Median time = median(row.nanoseconds);
    std::printf("%-48s %-10s %9.0f ± %.0f\n", row.call.c_str(), row.way.c_str(), time.value,
                time.doubt);
  }
  if (json) write_json(argv[2], rows, properties.name, version);
}
