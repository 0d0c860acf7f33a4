/* A program in cuBLAS's API of today. Its calls are single and batched products, GemmEx, and
 * cublasLt with the epilogues of PyTorch's linear layers. They have scalars in device memory, two
 * streams, a captured graph that is a part of another graph, and a destroyed handle. Each is
 * compared with float64 on the host. Prints a line for each; exit code 1 where one is wrong.
 *
 * cc current_api.c -I$CUDA/include -L$CUDA/lib64 -lcublas -lcublasLt -lcudart -lm -o current_api */

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 384, N = 200, K = 520, BATCH = 3 };

static float *a, *b, *c, *d_a, *d_b, *d_c, *result;
static const float **d_as, **d_bs;
static float** d_cs;
static float bias[M];
static int failed = 0;

static void must(int status, const char* what) {
  if (status == 0) return;
  fprintf(stderr, "current_api: %s fails: %d\n", what, status);
  exit(2);
}
#define MUST(call) must((int)(call), #call)

static float* both(int count, float** device) {
  float* const host = malloc(sizeof(float) * (size_t)count);
  for (int i = 0; i < count; ++i) host[i] = (float)rand() / RAND_MAX - 0.5f;
  MUST(cudaMalloc((void**)device, sizeof(float) * (size_t)count));
  MUST(cudaMemcpy(*device, host, sizeof(float) * (size_t)count, cudaMemcpyHostToDevice));
  return host;
}

static void reset(void) {
  MUST(cudaMemcpy(d_c, c, sizeof(float) * M * N * BATCH, cudaMemcpyHostToDevice));
}

static double gelu(double x) {
  return x / 2 * (1 + tanh(sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
}

/* Of 2·A·B + beta·C for `batch` matrices; epilogue: 'b'ias, 'r'elu or 'g'elu behind it. */
static void check(const char* what, int batch, double beta, char epilogue) {
  double worst = 0;
  MUST(cudaDeviceSynchronize());
  MUST(cudaMemcpy(result, d_c, sizeof(float) * M * N * BATCH, cudaMemcpyDeviceToHost));
  for (int matrix = 0; matrix < batch; ++matrix) {
    for (int j = 0; j < N; ++j) {
      for (int i = 0; i < M; ++i) {
        const int at = matrix * M * N + i + j * M;
        double sum = 0;
        for (int t = 0; t < K; ++t) {
          sum += (double)a[matrix * M * K + i + t * M] * b[matrix * K * N + t + j * K];
        }
        sum = 2 * sum + beta * c[at];
        if (epilogue) sum += bias[i];
        if (epilogue == 'r' && sum < 0) sum = 0;
        if (epilogue == 'g') sum = gelu(sum);
        worst = fmax(worst, fabs(sum - result[at]));
      }
    }
  }
  const double bound = epilogue == 'g' ? 2e-3 : 1e-4;
  const int good = worst < bound;
  failed |= !good;
  printf("current_api: %-34s largest error %.2g: %s\n", what, worst, good ? "right" : "WRONG");
  reset();
}

static void lt(cublasLtEpilogue_t epilogue, const char* what, float beta, char letter) {
  static cublasLtHandle_t handle = NULL;
  static float* d_bias = NULL;
  if (!handle) {
    MUST(cublasLtCreate(&handle));
    MUST(cudaMalloc((void**)&d_bias, sizeof bias));
    for (int i = 0; i < M; ++i) bias[i] = (float)i / M - 0.5f;
    MUST(cudaMemcpy(d_bias, bias, sizeof bias, cudaMemcpyHostToDevice));
  }
  const float alpha = 2;
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t of_a, of_b, of_c;
  cublasLtMatmulPreference_t preference;
  cublasLtMatmulHeuristicResult_t best;
  int found = 0;
  MUST(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  MUST(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                      sizeof epilogue));
  if (letter) {
    MUST(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &d_bias,
                                        sizeof d_bias));
  }
  MUST(cublasLtMatrixLayoutCreate(&of_a, CUDA_R_32F, M, K, M));
  MUST(cublasLtMatrixLayoutCreate(&of_b, CUDA_R_32F, K, N, K));
  MUST(cublasLtMatrixLayoutCreate(&of_c, CUDA_R_32F, M, N, M));
  MUST(cublasLtMatmulPreferenceCreate(&preference));
  MUST(cublasLtMatmulAlgoGetHeuristic(handle, operation, of_a, of_b, of_c, of_c, preference, 1,
                                      &best, &found));
  MUST(cublasLtMatmul(handle, operation, &alpha, d_a, of_a, d_b, of_b, &beta, d_c, of_c, d_c, of_c,
                      found ? &best.algo : NULL, NULL, 0, 0));
  check(what, 1, beta, letter);
}

/* The product, captured, as the child of another graph: memory that the graph itself allocates
 * would forbid that. */
static void graphs(cublasHandle_t handle) {
  const float alpha = 2, zero = 0;
  cudaStream_t stream;
  cudaGraph_t graph, parent;
  cudaGraphNode_t node;
  cudaGraphExec_t executable;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cublasSetStream(handle, stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int twice = 0; twice < 2; ++twice) {
    MUST(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, d_a, M, d_b, K, &zero, d_c,
                     M));
  }
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphCreate(&parent, 0));
  MUST(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
  MUST(cudaGraphInstantiate(&executable, parent, 0));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaGraphDestroy(parent));
  for (int launch = 0; launch < 3; ++launch) MUST(cudaGraphLaunch(executable, stream));
  MUST(cudaStreamSynchronize(stream));
  check("cublasSgemm in a graph", 1, 0, 0);
  MUST(cudaGraphExecDestroy(executable));
  MUST(cublasSetStream(handle, 0));
  MUST(cudaStreamDestroy(stream));
}

static void device_scalars(cublasHandle_t handle) {
  const float scalars[2] = {2, 1};
  float* d_scalars;
  MUST(cudaMalloc((void**)&d_scalars, sizeof scalars));
  MUST(cudaMemcpy(d_scalars, scalars, sizeof scalars, cudaMemcpyHostToDevice));
  MUST(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  MUST(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, d_scalars, d_a, M, d_b, K,
                   d_scalars + 1, d_c, M));
  MUST(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  check("scalars in device memory", 1, 1, 0);
}

static void pointer_arrays(void) {
  const float *as[BATCH], *bs[BATCH];
  float* cs[BATCH];
  for (int i = 0; i < BATCH; ++i) {
    as[i] = d_a + i * M * K;
    bs[i] = d_b + i * K * N;
    cs[i] = d_c + i * M * N;
  }
  MUST(cudaMalloc((void**)&d_as, sizeof as));
  MUST(cudaMalloc((void**)&d_bs, sizeof bs));
  MUST(cudaMalloc((void**)&d_cs, sizeof cs));
  MUST(cudaMemcpy(d_as, as, sizeof as, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_bs, bs, sizeof bs, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_cs, cs, sizeof cs, cudaMemcpyHostToDevice));
}

int main(void) {
  const float alpha = 2, one = 1, zero = 0;
  cublasHandle_t handle;
  a = both(M * K * BATCH, &d_a);
  b = both(K * N * BATCH, &d_b);
  c = both(M * N * BATCH, &d_c);
  result = malloc(sizeof(float) * M * N * BATCH);
  pointer_arrays();
  MUST(cublasCreate(&handle));
  MUST(
      cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, d_a, M, d_b, K, &one, d_c, M));
  check("cublasSgemm", 1, 1, 0);
  MUST(cublasSgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, d_a, M, d_b, K, &zero, d_c,
                      M));
  check("cublasSgemm_64", 1, 0, 0);
  MUST(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, d_a, M, M * K,
                                 d_b, K, K * N, &one, d_c, M, M * N, BATCH));
  check("cublasSgemmStridedBatched", BATCH, 1, 0);
  MUST(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, d_as, M, d_bs, K, &one,
                          d_cs, M, BATCH));
  check("cublasSgemmBatched", BATCH, 1, 0);
  MUST(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, d_a, CUDA_R_32F, M, d_b,
                    CUDA_R_32F, K, &one, d_c, CUDA_R_32F, M, CUBLAS_COMPUTE_32F,
                    CUBLAS_GEMM_DEFAULT));
  check("cublasGemmEx", 1, 1, 0);
  MUST(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, d_a, CUDA_R_32F, M, d_b,
                    CUDA_R_32F, K, &one, d_c, CUDA_R_32F, M, CUBLAS_COMPUTE_32F_PEDANTIC,
                    CUBLAS_GEMM_DEFAULT));
  check("cublasGemmEx, pedantic", 1, 1, 0);
  lt(CUBLASLT_EPILOGUE_DEFAULT, "cublasLtMatmul", 1, 0);
  lt(CUBLASLT_EPILOGUE_BIAS, "cublasLtMatmul, bias", 1, 'b');
  lt(CUBLASLT_EPILOGUE_RELU_BIAS, "cublasLtMatmul, bias, ReLU", 0, 'r');
  lt(CUBLASLT_EPILOGUE_GELU_BIAS, "cublasLtMatmul, bias, GELU", 0, 'g');
  device_scalars(handle);
  graphs(handle);
  MUST(cublasDestroy(handle));
  return failed;
}
