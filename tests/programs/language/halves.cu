// Functions of half and bfloat16 beside operators. What is wanted was derived by hand: a half has
// 11 bits, a bfloat16 has 8.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>

__device__ int wrong;
__device__ void expect(int line, double got, double wanted) {
  if (got == wanted || (got != got && wanted != wanted)) return;
  printf("line %d: %.9g instead of %.9g\n", line, got, wanted);
  wrong = 1;
}
#define EXPECT(got, wanted) expect(__LINE__, static_cast<double>(got), wanted)
#define EXPECT2(got, first, second)                       \
  do {                                                    \
    const auto pair = got;                                \
    expect(__LINE__, static_cast<float>(pair.x), first);  \
    expect(__LINE__, static_cast<float>(pair.y), second); \
  } while (0)

__global__ void conversions() {
  EXPECT(__int2half_rn(2049), 2048);  // between 2048 and 2050: to the even one
  EXPECT(__int2half_rn(2051), 2052);
  EXPECT(__int2half_rz(-2051), -2050);
  EXPECT(__int2half_rd(-2049), -2050);
  EXPECT(__uint2half_ru(2049u), 2050);
  EXPECT(__int2half_rn(65520), INFINITY);
  EXPECT(__int2half_rz(1 << 20), 65504);
  EXPECT(__ushort2half_rn(7), 7);
  EXPECT(__ll2half_rd(-70000), -INFINITY);
  // A tie for a float, and for a bfloat16 as well: 2^40 + 2^32 + 1 lies above the middle.
  EXPECT(__ll2bfloat16_rn((1ll << 40) + (1ll << 32) + 1), 0x1.02p40);
  EXPECT(__ll2bfloat16_rn((1ll << 40) + (1ll << 32)), 0x1p40);
  EXPECT(__int2bfloat16_rz(257), 256);
  EXPECT(__int2bfloat16_ru(257), 258);
  EXPECT(__float2half_rz(1.9999f), 0x1.ffcp0);
  EXPECT(__float2half_ru(-1.9999f), -0x1.ffcp0);
  EXPECT(__float2half_rd(1e-9f), 0);
  EXPECT(__float2half_ru(1e-9f), 0x1p-24);
  EXPECT(__float2bfloat16_rd(-1.001f), -0x1.02p0);
  const __half x = 2.5f, y = -2.5f, none = NAN, many = INFINITY;
  EXPECT(__half2int_rn(x), 2);
  EXPECT(__half2int_ru(x), 3);
  EXPECT(__half2int_rz(y), -2);
  EXPECT(__half2int_rd(y), -3);
  EXPECT(__half2uint_rn(y), 0);
  EXPECT(__half2short_rz(many), 32767);
  EXPECT(__half2int_rn(none), 0);
  EXPECT(__half2uchar_rz(__half(300.0f)), 255);
  EXPECT(__bfloat162ll_rn(__nv_bfloat16(-3.5f)), -4);
  EXPECT(__bfloat16_as_short(__short_as_bfloat16(-5)), -5);
}

__global__ void arithmetic() {
  const __half2 a(1.5f, -0.5f), b(0.25f, 4.0f), none(NAN, 1.0f);
  EXPECT2(-a, -1.5, 0.5);
  EXPECT2(__hadd2_sat(a, b), 1, 1);
  EXPECT2(__hmul2_sat(a, b), 0.375, 0);
  EXPECT(__hsub_sat(none.x, a.x), 0);
  EXPECT2(__hfma2_relu(a, b, __half2(1.0f, 1.0f)), 1.375, 0);
  EXPECT2(__hfma2_sat(a, b, a), 1, 0);
  EXPECT2(__hcmadd(a, b, __half2(1.0f, 2.0f)), 3.375, 7.875);  // (1.5 - 0.5i)(0.25 + 4i) + 1 + 2i
  EXPECT2(__hmax2_nan(none, a), NAN, 1);
  EXPECT2(__hmin2(none, a), 1.5, -0.5);
  EXPECT2(__low2half2(a), 1.5, 1.5);
  EXPECT2(__highs2half2(a, b), -0.5, 4);
  EXPECT2(__lowhigh2highlow(a), -0.5, 1.5);
  EXPECT2(__lows2bfloat162(make_bfloat162(1.0f, 2.0f), make_bfloat162(3.0f, 4.0f)), 1, 3);
  EXPECT2(__float22bfloat162_rn(float2{1.0f, 257.0f}), 1, 256);
  __half2 sum = a;
  sum += b;
  sum *= __half2(2.0f, 2.0f);
  EXPECT2(sum, 3.5, 7);
}

__global__ void comparisons() {
  const __half2 a(1.0f, 2.0f), b(1.0f, 3.0f), none(NAN, 2.0f);
  EXPECT2(__heq2(a, b), 1, 0);
  EXPECT2(__hne2(none, a), 0, 0);  // ordered
  EXPECT2(__hneu2(none, a), 1, 0);
  EXPECT(__hne(none.x, a.x), 0);
  EXPECT(__hltu(none.x, a.x), 1);
  EXPECT(__hble2(a, b), 1);
  EXPECT(__hblt2(a, b), 0);
  EXPECT(__hbgeu2(none, a), 1);
  EXPECT(__hlt2_mask(a, b), 0xffff0000u);
  EXPECT(a == b, 0);
  EXPECT(a != b, 0);  // true if both differ, as in CUDA
  EXPECT2(__hisnan2(none), 1, 0);
  EXPECT(__hisnan(none.x), 1);
  EXPECT(__hisinf(__half(-INFINITY)), -1);
  EXPECT(__hisinf(a.x), 0);
}

__global__ void mathematics() {
  const __half2 a(2.0f, 0.25f);
  EXPECT2(h2exp2(a), 4, 0x1.308p0);  // 2^0.25 = 1.189207
  EXPECT2(h2log2(a), 1, -2);
  EXPECT2(h2rcp(a), 0.5, 4);
  EXPECT2(h2sqrt(a), 0x1.6ap0, 0.5);  // 1.414214
  EXPECT2(h2trunc(__half2(-1.75f, 1.75f)), -1, 1);
  EXPECT2(__habs2(__half2(-1.75f, 1.75f)), 1.75, 1.75);
  EXPECT(hexp10(a.x), 100);
  EXPECT(hlog10(__half(1000.0f)), 3);
  EXPECT2(h2rsqrt(make_bfloat162(4.0f, 16.0f)), 0.5, 0.25);
}

int main() {
  const char* names[] = {"conversions", "arithmetic", "comparisons", "mathematics"};
  void (*const kernels[])() = {conversions, arithmetic, comparisons, mathematics};
  for (int i = 0; i < 4; ++i) {
    int found = 0;
    cudaMemcpyToSymbol(wrong, &found, sizeof found);
    kernels[i]<<<1, 1>>>();
    cudaMemcpyFromSymbol(&found, wrong, sizeof found);
    printf("%s %s\n", names[i], found ? "WRONG" : "ok");
  }
}
