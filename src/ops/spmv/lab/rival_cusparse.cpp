// cusparseSpMV: its default algorithm, CSR_ALG1 and CSR_ALG2, each as it is called without and with
// cusparseSpMV_preprocess. The library is loaded where it is found.

#include <cusparse.h>
#include <fmt/format.h>

#include <string>

#include "base/error.hpp"
#include "base/shared_library.hpp"
#include "device/device.hpp"
#include "ops/lab/rival.hpp"
#include "ops/spmv/problem.hpp"

namespace warpladder::spmv {
namespace {

class Cusparse {
 public:
  static Cusparse& instance() {
    static Cusparse cusparse;
    return cusparse;
  }

  cusparseHandle_t handle = nullptr;
  decltype(&cusparseSetStream) set_stream = nullptr;
  decltype(&cusparseGetVersion) get_version = nullptr;
  decltype(&cusparseCreateCsr) create_csr = nullptr;
  decltype(&cusparseDestroySpMat) destroy_matrix = nullptr;
  decltype(&cusparseCreateDnVec) create_vector = nullptr;
  decltype(&cusparseDestroyDnVec) destroy_vector = nullptr;
  decltype(&cusparseSpMV_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMV_preprocess) preprocess = nullptr;
  decltype(&cusparseSpMV) multiply = nullptr;
  std::string why_not;

 private:
  Cusparse()
      : library_(places_of_cuda_library(fmt::format("libcusparse.so.{}", CUSPARSE_VER_MAJOR))) {
    why_not = library_.why_not();
    if (!why_not.empty()) return;
    bool found = true;
    const auto find = [&](auto& function, const char* name) {
      function = library_.find<std::remove_reference_t<decltype(function)>>(name);
      found = found && function;
    };
    decltype(&cusparseCreate) create = nullptr;
    find(create, "cusparseCreate");
    find(set_stream, "cusparseSetStream");
    find(get_version, "cusparseGetVersion");
    find(create_csr, "cusparseCreateCsr");
    find(destroy_matrix, "cusparseDestroySpMat");
    find(create_vector, "cusparseCreateDnVec");
    find(destroy_vector, "cusparseDestroyDnVec");
    find(buffer_size, "cusparseSpMV_bufferSize");
    find(preprocess, "cusparseSpMV_preprocess");
    find(multiply, "cusparseSpMV");
    if (!found) {
      why_not = "this libcusparse lacks a function that is needed";
    } else if (create(&handle) != CUSPARSE_STATUS_SUCCESS) {
      why_not = "cuSPARSE cannot be set up on this GPU";
    }
  }

  SharedLibrary library_;
};

void check(cusparseStatus_t status, const char* what) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw_resource(fmt::format("{} failed with cuSPARSE status {}", what, static_cast<int>(status)));
}

// What cuSPARSE knows of a call under one algorithm. It is kept from one launch to the next, as a
// caller would keep it, for the very same call alone.
template <cusparseSpMVAlg_t kAlgorithm, bool kPreprocess>
class Product {
 public:
  static Product& of(const Call& call, runtime::StreamView& stream) {
    static Product product;
    const Cusparse& cusparse = Cusparse::instance();
    check(cusparse.set_stream(cusparse.handle, static_cast<cudaStream_t>(stream.native)),
          "cusparseSetStream");
    if (product.call_.matrix_id != call.matrix_id) product.set_up(call);
    return product;
  }

  void preprocess() {
    const Cusparse& c = Cusparse::instance();
    const Problem& p = call_.problem;
    check(c.preprocess(c.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &p.alpha, matrix_, x_, &p.beta,
                       y_, CUDA_R_32F, kAlgorithm, buffer_.data()),
          "cusparseSpMV_preprocess");
  }
  void multiply() {
    const Cusparse& c = Cusparse::instance();
    const Problem& p = call_.problem;
    check(c.multiply(c.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &p.alpha, matrix_, x_, &p.beta, y_,
                     CUDA_R_32F, kAlgorithm, buffer_.data()),
          "cusparseSpMV");
  }

 private:
  void set_up(const Call& call) {
    const Cusparse& c = Cusparse::instance();
    const Problem& p = call.problem;
    if (matrix_) c.destroy_matrix(matrix_);
    if (x_) c.destroy_vector(x_);
    if (y_) c.destroy_vector(y_);
    // It takes pointers that it may not write through, without saying so.
    const auto pointer = [](const void* at) { return const_cast<void*>(at); };
    check(c.create_csr(&matrix_, p.rows, p.columns, p.nnz, pointer(call.row_offsets),
                       pointer(call.column_indices), pointer(call.values),
                       p.wide_offsets ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
          "cusparseCreateCsr");
    check(c.create_vector(&x_, p.columns, pointer(call.x), CUDA_R_32F), "cusparseCreateDnVec");
    check(c.create_vector(&y_, p.rows, call.y, CUDA_R_32F), "cusparseCreateDnVec");
    std::size_t bytes = 0;
    check(c.buffer_size(c.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &p.alpha, matrix_, x_, &p.beta,
                        y_, CUDA_R_32F, kAlgorithm, &bytes),
          "cusparseSpMV_bufferSize");
    if (buffer_.bytes() < bytes) buffer_ = device::Memory(runtime::Target::gpu, bytes);
    call_ = call;
  }

  Call call_;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  device::Memory buffer_;
};

template <cusparseSpMVAlg_t kAlgorithm, bool kPreprocess>
void launch(const Call& given, runtime::StreamView& stream) {
  Product<kAlgorithm, kPreprocess>::of(given, stream).multiply();
}
template <cusparseSpMVAlg_t kAlgorithm>
void prepare(const Call& given, runtime::StreamView& stream) {
  Product<kAlgorithm, true>::of(given, stream).preprocess();
}

std::string version() {
  int number = 0;  // 12603 is 12.6.3
  check(Cusparse::instance().get_version(Cusparse::instance().handle, &number),
        "cusparseGetVersion");
  return fmt::format("{}.{}.{}", number / 1000, number / 100 % 10, number % 100);
}
std::string why_not() { return Cusparse::instance().why_not; }

// Offsets of 64 bits it takes only with column indices of 64 bits; and it wants its operands
// aligned.
bool takes(const Call& given) {
  const Call& call = given;
  const auto addresses = reinterpret_cast<std::uintptr_t>(call.row_offsets) |
                         reinterpret_cast<std::uintptr_t>(call.column_indices) |
                         reinterpret_cast<std::uintptr_t>(call.values) |
                         reinterpret_cast<std::uintptr_t>(call.x) |
                         reinterpret_cast<std::uintptr_t>(call.y);
  return !call.problem.wide_offsets && addresses % 16 == 0 && call.problem.nnz > 0 &&
         call.problem.alpha != 0.0f;
}

template <cusparseSpMVAlg_t kAlgorithm>
bool declare(const std::string& name, const std::string& what) {
  ops::declare_rival({"spmv", name, "cusparseSpMV, " + what, "cuSPARSE", runtime::Target::gpu,
                      launch<kAlgorithm, false>, version, why_not, false, takes});
  return ops::declare_rival({"spmv", name + "_prepared",
                             "cusparseSpMV, " + what + ", after cusparseSpMV_preprocess",
                             "cuSPARSE", runtime::Target::gpu, launch<kAlgorithm, true>, version,
                             why_not, false, takes, prepare<kAlgorithm>});
}

const bool declared = declare<CUSPARSE_SPMV_ALG_DEFAULT>("cusparse", "default algorithm") &&
                      declare<CUSPARSE_SPMV_CSR_ALG1>("cusparse_alg1", "CSR_ALG1") &&
                      declare<CUSPARSE_SPMV_CSR_ALG2>("cusparse_alg2", "CSR_ALG2");

}  // namespace
}  // namespace warpladder::spmv
