// A program that holds cuBLAS statically: its calls never pass the dynamic linker. It loads the
// driver that its argument names, as CUDA's runtime does. Prints how often cuBLAS was called.

#include <cublas_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <vector>

#include "made_up_cublas.hpp"

int main(int argc, char** argv) {
  if (argc == 2 && !dlopen(argv[1], RTLD_NOW)) return 1;
  const std::vector<float> a(16, 1.0f);
  std::vector<float> c(16);
  const float one = 1, zero = 0;
  cublasHandle_t handle = nullptr;
  if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS) return 2;
  const auto status = cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a.data(), 4,
                                     a.data(), 4, &zero, c.data(), 4);
  if (status != CUBLAS_STATUS_SUCCESS || c[0] != 4.0f) return 3;
  std::printf("%d\n", made_up_cublas_calls("cublasSgemm_v2"));
}
