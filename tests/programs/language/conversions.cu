// Conversions between integers and floating point at ties, past the ends of a type, and of NaN.
#include <cmath>
#include <cstdint>
#include <cstdio>

static void say(const char* what, bool ok) { std::printf("%s %s\n", what, ok ? "ok" : "WRONG"); }

struct Results {
  int nearest[8], zero[8], down[8], up[8];
  int ends[4], of_double[2];
  unsigned unsigned_ends[4];
  long long wide[4];
  unsigned long long wide_unsigned[3];
  float from_int[4], from_negative[4], from_wide[3], from_double[4];
};

__global__ void convert(const float* f, const float* ends, int n, long long w, double d,
                        Results* r) {
  for (int i = 0; i < 8; ++i) {
    r->nearest[i] = __float2int_rn(f[i]);
    r->zero[i] = __float2int_rz(f[i]);
    r->down[i] = __float2int_rd(f[i]);
    r->up[i] = __float2int_ru(f[i]);
  }
  for (int i = 0; i < 4; ++i) {  // beyond, below, NaN, infinite
    r->ends[i] = __float2int_rn(ends[i]);
    r->unsigned_ends[i] = __float2uint_rz(ends[i]);
    r->wide[i] = __float2ll_rn(ends[i] * ends[0]);
  }
  r->of_double[0] = __double2int_rn(static_cast<double>(ends[2]));
  r->of_double[1] = __double2int_rz(1e300);
  r->wide_unsigned[0] = __double2ull_rz(1.8446744073709550e19);
  r->wide_unsigned[1] = __double2ull_rz(1e20);
  r->wide_unsigned[2] = __double2ull_rz(-1.0);
  const int numbers[] = {n, -n};
  float* const to[] = {r->from_int, r->from_negative};
  for (int i = 0; i < 2; ++i) {
    to[i][0] = __int2float_rn(numbers[i]);
    to[i][1] = __int2float_rz(numbers[i]);
    to[i][2] = __int2float_rd(numbers[i]);
    to[i][3] = __int2float_ru(numbers[i]);
  }
  r->from_wide[0] = __ll2float_rn(w);
  r->from_wide[1] = __ll2float_rz(w);
  r->from_wide[2] = __ll2float_ru(w);
  r->from_double[0] = __double2float_rn(d);
  r->from_double[1] = __double2float_rz(d);
  r->from_double[2] = __double2float_rd(-d);
  r->from_double[3] = __double2float_ru(d);
}

template <class T, int n>
static bool equal(const T (&got)[n], const T (&wanted)[n]) {
  bool ok = true;
  for (int i = 0; i < n; ++i) ok = ok && got[i] == wanted[i];
  return ok;
}

int main() {
  float *f, *ends;
  Results* r;
  cudaMallocManaged(&f, 8 * sizeof(float));
  cudaMallocManaged(&ends, 4 * sizeof(float));
  cudaMallocManaged(&r, sizeof(Results));
  const float given[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.75f, -0.25f};
  for (int i = 0; i < 8; ++i) f[i] = given[i];
  ends[0] = 3e10f;
  ends[1] = -3e10f;
  ends[2] = NAN;
  ends[3] = INFINITY;
  // 2^24 + 3 lies between 2^24 + 2 and 2^24 + 4; 2^40 + 1 and the double just above 2^40.
  convert<<<1, 1>>>(f, ends, (1 << 24) + 3, (1ll << 40) + 1, 16777219.0, r);
  cudaDeviceSynchronize();
  say("to nearest", equal(r->nearest, {0, 2, 2, 0, -2, -2, 1, 0}));
  say("to zero", equal(r->zero, {0, 1, 2, 0, -1, -2, 0, 0}));
  say("down", equal(r->down, {0, 1, 2, -1, -2, -3, 0, -1}));
  say("up", equal(r->up, {1, 2, 3, 0, -1, -2, 1, 0}));
  say("ends", equal(r->ends, {INT32_MAX, INT32_MIN, 0, INT32_MAX}));
  say("a double", equal(r->of_double, {INT32_MIN, INT32_MAX}));
  say("unsigned ends", equal(r->unsigned_ends, {UINT32_MAX, 0u, 0u, UINT32_MAX}));
  say("wide", equal<long long>(r->wide, {INT64_MAX, INT64_MIN, INT64_MIN, INT64_MAX}));
  say("wide unsigned",
      equal<unsigned long long>(r->wide_unsigned, {18446744073709549568ull, UINT64_MAX, 0}));
  say("from an integer", equal(r->from_int, {16777220.f, 16777218.f, 16777218.f, 16777220.f}));
  say("from a negative one",
      equal(r->from_negative, {-16777220.f, -16777218.f, -16777220.f, -16777218.f}));
  say("from a wide one", equal(r->from_wide, {0x1p40f, 0x1p40f, 0x1.000002p40f}));
  say("from a double", equal(r->from_double, {16777220.f, 16777218.f, -16777220.f, 16777220.f}));
  cudaFree(f);
  cudaFree(ends);
  cudaFree(r);
}
