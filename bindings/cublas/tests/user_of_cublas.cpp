// A library that calls cuBLAS: linked with one version of it, loaded with RTLD_LOCAL, as Python
// loads extensions.

#include <cublas_api.h>
#include <dlfcn.h>

#include <vector>

#define SHOWN extern "C" [[gnu::visibility("default")]]

namespace {

// How many calls this version has counted during one product.
int calls_of_product(cublasMath_t mode) {
  void* const mine = dlopen(CUBLAS_NAME, RTLD_LAZY | RTLD_NOLOAD);
  if (!mine) return -1;
  const auto calls = reinterpret_cast<int (*)(const char*)>(dlsym(mine, "made_up_cublas_calls"));
  const std::vector<float> a(16, 1.0f);
  std::vector<float> c(16, 0.0f);
  const float one = 1, zero = 0;
  cublasHandle_t handle = nullptr;
  if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS) return -2;
  cublasSetMathMode(handle, mode);
  const int before = calls("cublasSgemm_v2");
  const auto status = cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a.data(), 4,
                                     a.data(), 4, &zero, c.data(), 4);
  cublasDestroy_v2(handle);
  if (status != CUBLAS_STATUS_SUCCESS) return -3;
  for (const float x : c) {
    if (x != 4.0f) return -4;
  }
  return calls("cublasSgemm_v2") - before;
}

}  // namespace

#define NAMED(name, version) NAMED_(name, version)
#define NAMED_(name, version) name##version
SHOWN int NAMED(passed_on_to_, CUBLAS_VERSION_NUMBER)() {
  return calls_of_product(CUBLAS_TF32_TENSOR_OP_MATH);
}
SHOWN int NAMED(taken_of_, CUBLAS_VERSION_NUMBER)() {
  return calls_of_product(CUBLAS_DEFAULT_MATH);
}
