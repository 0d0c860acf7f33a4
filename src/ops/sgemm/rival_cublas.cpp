// cuBLAS, which knows column-major storage only, called in the two ways that a row-major caller
// has. A row-major matrix is the column-major storage of its transpose. So either
//  - exchange the operands: Cᵀ = op(B)ᵀ·op(A)ᵀ asks for exactly what lies there, and what cuBLAS
//    writes as Cᵀ by columns is C by rows. Nothing is copied. This is the rival that counts.
//  - or tell cuBLAS that A and B are transposed, and transpose its column-major result: another
//    kernel, which reads and writes C once more, through a buffer as large as C.

#include <cublas_v2.h>
#include <fmt/format.h>

#include <cstdlib>

#include "base/error.hpp"
#include "base/shared_library.hpp"
#include "ops/rival.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {
namespace {

std::vector<std::string> places() {
  const std::string name = fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR);
  std::vector<std::string> list{name};
  if (const char* home = std::getenv("CUDA_HOME")) {
    list.push_back(fmt::format("{}/lib64/{}", home, name));
  }
  list.push_back("/usr/local/cuda/lib64/" + name);
  return list;
}

// Loaded by the first call, for it takes half a second.
struct Cublas {
  SharedLibrary library{places()};
  decltype(&cublasCreate_v2) create = find<decltype(&cublasCreate_v2)>("cublasCreate_v2");
  decltype(&cublasGetVersion_v2) get_version =
      find<decltype(&cublasGetVersion_v2)>("cublasGetVersion_v2");
  decltype(&cublasSetStream_v2) set_stream =
      find<decltype(&cublasSetStream_v2)>("cublasSetStream_v2");
  decltype(&cublasSgemm_v2_64) sgemm = find<decltype(&cublasSgemm_v2_64)>("cublasSgemm_v2_64");
  decltype(&cublasSgeam_64) sgeam = find<decltype(&cublasSgeam_64)>("cublasSgeam_64");
  cublasHandle_t handle = nullptr;
  std::string why_not = library.why_not();

  Cublas() {
    if (!why_not.empty()) return;
    if (!create || !get_version || !set_stream || !sgemm || !sgeam) {
      why_not = "this libcublas lacks a function that is needed";
    } else if (create(&handle) != CUBLAS_STATUS_SUCCESS) {
      why_not = "cuBLAS cannot be set up on this GPU";
    }
  }

  static Cublas& instance() {
    static Cublas cublas;
    return cublas;
  }

 private:
  template <class Function>
  Function find(const char* symbol) const {
    return library.find<Function>(symbol);
  }
};

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw_resource(fmt::format("{} failed with cuBLAS status {}", what, static_cast<int>(status)));
}

cublasOperation_t operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

Cublas& on(device::Stream& stream) {
  Cublas& cublas = Cublas::instance();
  check(cublas.set_stream(cublas.handle, static_cast<cudaStream_t>(stream.native())),
        "cublasSetStream");
  return cublas;
}

void launch_exchanged(const void* erased, device::Stream& stream) {
  const Call call = in_layout(*static_cast<const Call*>(erased), Layout::column_major);
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0) return;
  const Cublas& cublas = on(stream);
  check(cublas.sgemm(cublas.handle, operation(p.trans_a), operation(p.trans_b), p.m, p.n, p.k,
                     &p.alpha, call.a, p.lda, call.b, p.ldb, &p.beta, call.c, p.ldc),
        "cublasSgemm");
}

void launch_transposed(const void* erased, device::Stream& stream) {
  const Call call = in_layout(*static_cast<const Call*>(erased), Layout::row_major);
  const Problem& p = call.problem;
  if (p.m == 0 || p.n == 0) return;
  const Cublas& cublas = on(stream);
  static device::Memory product;  // m×n by columns; grows, so that timed calls allocate nothing
  const auto bytes = static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n) * sizeof(float);
  if (product.bytes() < bytes) product = device::Memory(device::Target::gpu, bytes);
  auto* const by_columns = static_cast<float*>(product.data());
  const float one = 1, zero = 0;
  check(cublas.sgemm(cublas.handle, operation(!p.trans_a), operation(!p.trans_b), p.m, p.n, p.k,
                     &p.alpha, call.a, p.lda, call.b, p.ldb, &zero, by_columns, p.m),
        "cublasSgemm");
  check(cublas.sgeam(cublas.handle, CUBLAS_OP_T, CUBLAS_OP_N, p.n, p.m, &one, by_columns, p.m,
                     &p.beta, call.c, p.ldc, call.c, p.ldc),
        "cublasSgeam");
}

std::string version() {
  int number = 0;  // 130100 is 13.1.0
  check(Cublas::instance().get_version(Cublas::instance().handle, &number), "cublasGetVersion");
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}
std::string why_not() { return Cublas::instance().why_not; }

const bool declared =
    ops::declare_rival({"sgemm", "cublas", "cublasSgemm, operands exchanged", "cuBLAS",
                        device::Target::gpu, launch_exchanged, version, why_not}) &&
    ops::declare_rival({"sgemm", "cublas_transposed", "cublasSgemm with OP_T, OP_T; cublasSgeam",
                        "cuBLAS", device::Target::gpu, launch_transposed, version, why_not});

}  // namespace
}  // namespace warpladder::sgemm
