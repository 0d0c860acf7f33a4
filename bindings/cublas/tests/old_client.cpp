// A program in the API without handles. Prints how often cuBLAS itself was called.

#include <cublas.h>

#include <cstdio>

#include "made_up_cublas.hpp"

static bool is_right(const float* c, float value) {
  for (int i = 0; i < 16; ++i) {
    if (c[i] != value) return false;
  }
  return true;
}

int main() {
  float a[16], c[16], y[4] = {0, 0, 0, 0};
  for (int i = 0; i < 16; ++i) a[i] = 1.0f;
  if (cublasInit() != CUBLAS_STATUS_SUCCESS) return 1;
  cublasSgemm('n', 'T', 4, 4, 4, 2.0f, a, 4, a, 4, 0.0f, c, 4);
  if (!is_right(c, 8.0f)) return 2;
  cublasSgemv('t', 4, 4, 1.0f, a, 4, a, 1, 0.0f, y, 1);
  if (y[0] != 4.0f || y[3] != 4.0f) return 3;
  std::printf("%d %d\n", made_up_cublas_calls("cublasSgemm"), made_up_cublas_calls("cublasSgemv"));
  // The stream of the thread is not to be asked from now on.
  cublasSetKernelStream(reinterpret_cast<cudaStream_t>(0x100));
  cublasSgemm('N', 'N', 4, 4, 4, 1.0f, a, 4, a, 4, 0.0f, c, 4);
  if (!is_right(c, 4.0f)) return 4;
  std::printf("%d %d\n", made_up_cublas_calls("cublasSgemm"), made_up_cublas_calls("cublasSgemv"));
  return 0;
}
