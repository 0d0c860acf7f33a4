/* A program in cuBLAS's API without handles (cublas.h): one product and one matrix times a vector,
 * beside float64 on the host. Exit code 1 where one is wrong.
 *
 * cc old_api.c -I$CUDA/include -L$CUDA/lib64 -lcublas -lm -o old_api */

#include <cublas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 500, N = 300, K = 700 };

static float* random_matrix(int count) {
  float* x = malloc(sizeof *x * (size_t)count);
  for (int i = 0; i < count; ++i) x[i] = (float)rand() / RAND_MAX - 0.5f;
  return x;
}

static int check(const char* what, double worst) {
  const int good = worst < 1e-4 && cublasGetError() == CUBLAS_STATUS_SUCCESS;
  printf("old_api: %s: largest error %.2g: %s\n", what, worst, good ? "right" : "WRONG");
  return !good;
}

int main(void) {
  float *const a = random_matrix(M * K), *const b = random_matrix(K * N),
               *const c = random_matrix(M * N);
  float *d_a, *d_b, *d_c;
  if (cublasInit() != CUBLAS_STATUS_SUCCESS ||
      cublasAlloc(M * K, sizeof(float), (void**)&d_a) != CUBLAS_STATUS_SUCCESS ||
      cublasAlloc(K * N, sizeof(float), (void**)&d_b) != CUBLAS_STATUS_SUCCESS ||
      cublasAlloc(M * N, sizeof(float), (void**)&d_c) != CUBLAS_STATUS_SUCCESS) {
    fprintf(stderr, "old_api: cuBLAS does not start\n");
    return 2;
  }
  cublasSetMatrix(M, K, sizeof(float), a, M, d_a, M);
  cublasSetMatrix(K, N, sizeof(float), b, K, d_b, K);
  cublasSetMatrix(M, N, sizeof(float), c, M, d_c, M);
  cublasSgemm('n', 'n', M, N, K, 1.5f, d_a, M, d_b, K, 0.5f, d_c, M);
  float* const result = random_matrix(M * N);
  cublasGetMatrix(M, N, sizeof(float), d_c, M, result, M);
  double worst = 0;
  for (int j = 0; j < N; ++j) {
    for (int i = 0; i < M; ++i) {
      double sum = 0;
      for (int t = 0; t < K; ++t) sum += (double)a[i + t * M] * b[t + j * K];
      worst = fmax(worst, fabs(1.5 * sum + 0.5 * c[i + j * M] - result[i + j * M]));
    }
  }
  int failed = check("cublasSgemm", worst);
  cublasSgemv('t', M, K, 1.0f, d_a, M, d_c, 1, 0.0f, d_b, 1);
  cublasGetVector(K, sizeof(float), d_b, 1, b, 1);
  worst = 0;
  for (int t = 0; t < K; ++t) {
    double sum = 0;
    for (int i = 0; i < M; ++i) sum += (double)a[i + t * M] * result[i];
    worst = fmax(worst, fabs(sum - b[t]) / 10);
  }
  failed |= check("cublasSgemv", worst);
  cublasShutdown();
  return failed;
}
