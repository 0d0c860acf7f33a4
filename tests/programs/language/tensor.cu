// wmma, mma.sync, ldmatrix and other PTX against loops on the host. Small integers, so that every
// sum is exact.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>

#include <cstdio>
#include <vector>

using namespace nvcuda;

static void say(const char* what, bool ok) { std::printf("%s %s\n", what, ok ? "ok" : "WRONG"); }

template <class T, class Stored, int k, class LayoutA, class LayoutB>
__global__ void by_wmma(const Stored* a, const Stored* b, float* c) {
  constexpr bool a_by_row = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool b_by_row = std::is_same_v<LayoutB, wmma::row_major>;
  wmma::fragment<wmma::matrix_a, 16, 16, k, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, k, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, 16, 16, k, float> sums;
  wmma::fill_fragment(sums, 1.0f);
  wmma::load_matrix_sync(fa, a, a_by_row ? k : 16);
  wmma::load_matrix_sync(fb, b, b_by_row ? 16 : k);
  wmma::mma_sync(sums, fa, fb, sums);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] *= 2;
  wmma::store_matrix_sync(c, sums, 16, wmma::mem_row_major);
}

// A is 16 × k, B is k × 16; what comes out is 2·(A·B + 1).
template <class T, class Stored, int k, class LayoutA, class LayoutB>
static bool wmma_is_right() {
  constexpr bool a_by_row = std::is_same_v<LayoutA, wmma::row_major>;
  constexpr bool b_by_row = std::is_same_v<LayoutB, wmma::row_major>;
  Stored *a, *b;
  float* c;
  cudaMallocManaged(&a, 16 * k * sizeof *a);
  cudaMallocManaged(&b, 16 * k * sizeof *b);
  cudaMallocManaged(&c, 256 * sizeof *c);
  const auto in_a = [](int row, int i) { return (row * 5 + i * 3) % 7 - 3; };
  const auto in_b = [](int i, int column) { return (column * 2 + i * 5) % 9 - 4; };
  for (int row = 0; row < 16; ++row) {
    for (int i = 0; i < k; ++i) {
      a[a_by_row ? row * k + i : i * 16 + row] = Stored(float(in_a(row, i)));
      b[b_by_row ? i * 16 + row : row * k + i] = Stored(float(in_b(i, row)));
    }
  }
  by_wmma<T, Stored, k, LayoutA, LayoutB><<<1, 32>>>(a, b, c);
  cudaDeviceSynchronize();
  bool same = true;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      int sum = 1;
      for (int i = 0; i < k; ++i) sum += in_a(row, i) * in_b(i, column);
      same = same && c[row * 16 + column] == 2.0f * sum;
    }
  }
  cudaFree(a), cudaFree(b), cudaFree(c);
  return same;
}

#define LDMATRIX_X4(R0, R1, R2, R3, addr)                           \
  asm volatile(                                                     \
      "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, " \
      "[%4];\n"                                                     \
      : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3)                      \
      : "r"(addr))

// C = A·Bᵀ, A 16 × 16, B 8 × 16, in halves: from global memory by cp.async, by ldmatrix, by mma.
__global__ void by_ptx(const half* a, const half* b, half* c) {
  __shared__ half tile[24][16];
  const int lane = threadIdx.x;
  if (lane < 24) {
    const half* from = lane < 16 ? a + lane * 16 : b + (lane - 16) * 16;
    for (int part = 0; part < 2; ++part) {
      unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[lane][8 * part]));
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from + 8 * part));
    }
  }
  asm volatile("cp.async.commit_group;\n" ::);
  asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
  __syncwarp();
  uint32_t ra[4], rb[2], rc[2] = {0, 0};
  uint32_t address = __cvta_generic_to_shared(&tile[lane % 16][lane / 16 * 8]);
  LDMATRIX_X4(ra[0], ra[1], ra[2], ra[3], address);
  address = __cvta_generic_to_shared(&tile[16 + lane % 8][lane / 8 % 2 * 8]);
  asm volatile("ldmatrix.sync.aligned.x2.m8n8.shared.b16 {%0, %1}, [%2];\n"
               : "=r"(rb[0]), "=r"(rb[1])
               : "r"(address));
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%8, %9};\n"
      : "=r"(rc[0]), "=r"(rc[1])
      : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]), "r"(rc[0]),
        "r"(rc[1]));
  for (int h = 0; h < 2; ++h) {
    *reinterpret_cast<uint32_t*>(c + (lane / 4 + 8 * h) * 8 + lane % 4 * 2) = rc[h];
  }
}
static bool ptx_is_right() {
  half *a, *b, *c;
  cudaMallocManaged(&a, 256 * sizeof *a);
  cudaMallocManaged(&b, 128 * sizeof *b);
  cudaMallocManaged(&c, 128 * sizeof *c);
  for (int i = 0; i < 256; ++i) a[i] = half(float(i * 3 % 11 - 5));
  for (int i = 0; i < 128; ++i) b[i] = half(float(i * 7 % 5 - 2));
  by_ptx<<<1, 32>>>(a, b, c);
  cudaDeviceSynchronize();
  bool same = true;
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      float sum = 0;
      for (int i = 0; i < 16; ++i) sum += float(a[row * 16 + i]) * float(b[column * 16 + i]);
      same = same && float(c[row * 8 + column]) == sum;
    }
  }
  cudaFree(a), cudaFree(b), cudaFree(c);
  return same;
}

__global__ void small_instructions(const uint4* in, unsigned* out) {
  unsigned x, y, z, w, lane;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(in));
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  unsigned majority, highest, field, other;
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(majority) : "r"(x), "r"(y), "r"(z));
  asm("bfind.u32 %0, %1;" : "=r"(highest) : "r"(w));
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(field) : "r"(x));
  asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 0x1f, 0xffffffff;" : "=r"(other) : "r"(lane));
  if (lane == 6) {
    out[0] = majority, out[1] = highest, out[2] = field, out[3] = other;
    asm volatile("st.global.u32 [%0], %1;" ::"l"(out + 4), "r"(w));
  }
}
static bool small_are_right() {
  uint4* in;
  unsigned* out;
  cudaMallocManaged(&in, sizeof *in);
  cudaMallocManaged(&out, 5 * sizeof *out);
  *in = {0x1234abcdu, 0x0ff0f00fu, 0xaaaa5555u, 0x00012345u};
  small_instructions<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  const unsigned x = in->x, y = in->y, z = in->z;
  const bool same = out[0] == ((x & y) | (x & z) | (y & z)) && out[1] == 16 &&
                    out[2] == (x >> 4 & 0xff) && out[3] == 7 && out[4] == in->w;
  cudaFree(in), cudaFree(out);
  return same;
}

// The bytes and values of the formats' definition.
static bool tiny_floats_are_right() {
  const auto byte = [](float x) { return int(__nv_fp8_e4m3(x).__x); };
  return byte(1.0f) == 0x38 && byte(-448.0f) == 0xfe && byte(1000.0f) == 0x7e &&
         byte(0x1p-9f) == 0x01 && byte(1.0625f) == 0x38 && byte(1.1875f) == 0x3a &&
         __nv_fp8_e5m2(-3.0f).__x == 0xc2 && float(__nv_fp8_e4m3(0.4375f)) == 0.4375f;
}

// D = max(0, 2·Aᵀ·B + bias), A 3 × 2, B 3 × 2, in halves.
static bool lt_is_right() {
  half *a, *b, *d, *bias;
  for (half** p : {&a, &b, &d, &bias}) cudaMallocManaged(p, 6 * sizeof(half));
  for (int i = 0; i < 6; ++i) a[i] = half(float(i - 2)), b[i] = half(float(3 - i));
  bias[0] = half(1.0f), bias[1] = half(100.0f);
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t how;
  cublasLtMatrixLayout_t in, out;
  cublasLtCreate(&handle);
  cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const cublasOperation_t transposed = CUBLAS_OP_T;
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
  cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed);
  cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  cublasLtMatrixLayoutCreate(&in, CUDA_R_16F, 3, 2, 3);
  cublasLtMatrixLayoutCreate(&out, CUDA_R_16F, 2, 2, 2);
  const float alpha = 2, beta = 0;
  cublasLtMatmul(handle, how, &alpha, a, in, b, in, &beta, d, out, d, out, nullptr, nullptr, 0, 0);
  bool same = true;
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 2; ++i) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += float(i * 3 + k - 2) * float(3 - (j * 3 + k));
      same = same && float(d[j * 2 + i]) == fmaxf(0, 2 * sum + (i ? 100 : 1));
    }
  }
  cudaFree(a), cudaFree(b), cudaFree(d), cudaFree(bias);
  cublasLtMatmulDescDestroy(how);
  cublasLtMatrixLayoutDestroy(in);
  cublasLtMatrixLayoutDestroy(out);
  return same;
}

int main() {
  using wmma::col_major;
  using wmma::row_major;
  say("wmma of halves", wmma_is_right<half, half, 16, row_major, col_major>());
  say("wmma of halves, transposed", wmma_is_right<half, half, 16, col_major, row_major>());
  say("wmma of bfloat16", wmma_is_right<__nv_bfloat16, __nv_bfloat16, 16, row_major, row_major>());
  say("wmma of tf32", wmma_is_right<wmma::precision::tf32, float, 8, row_major, col_major>());
  say("cp.async, ldmatrix, mma.sync", ptx_is_right());
  say("small instructions", small_are_right());
  say("fp8", tiny_floats_are_right());
  say("cuBLASLt", lt_is_right());
}
