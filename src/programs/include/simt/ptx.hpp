#pragma once
// Inline PTX as functions, one for each instruction that rewriting knows. Their arguments are the
// operands in the order of the instruction's text.

#include "simt/math.hpp"
#include "simt/warp_products.hpp"

extern "C" void simt_named_barrier(int id, int threads);

namespace simt::ptx {

// The window of shared memory begins at the block's dynamic shared memory.
SIMT_INLINE unsigned char* shared_pointer(unsigned address) {
  return simt_dynamic_shared() + static_cast<int>(address);
}
SIMT_INLINE void cp_async(unsigned to, const void* from, int bytes, int source_bytes) {
  const auto used = static_cast<unsigned>(source_bytes);
  if (bytes == 16) simt_cp_async16(shared_pointer(to), from, used);
  if (bytes == 8) simt_cp_async8(shared_pointer(to), from, used);
  if (bytes == 4) simt_cp_async4(shared_pointer(to), from, used);
}
template <class P>
SIMT_INLINE void cp_async(unsigned to, P from, int bytes) {
  cp_async(to, (const void*)from, bytes, bytes);
}

// ---- matrices
template <int transposed, class... R>
SIMT_INLINE void load_matrices(unsigned row, R&... to) {
  std::uint32_t words[sizeof...(R)];
  simt_ldmatrix(words, row, sizeof...(R), transposed);
  int i = 0;
  ((to = static_cast<R>(words[i++])), ...);
}
template <class A>
SIMT_INLINE void ldmatrix_x1(A& a, unsigned row) {
  load_matrices<0>(row, a);
}
template <class A, class B>
SIMT_INLINE void ldmatrix_x2(A& a, B& b, unsigned row) {
  load_matrices<0>(row, a, b);
}
template <class A, class B, class C, class D>
SIMT_INLINE void ldmatrix_x4(A& a, B& b, C& c, D& d, unsigned row) {
  load_matrices<0>(row, a, b, c, d);
}
template <class A>
SIMT_INLINE void ldmatrix_x1_trans(A& a, unsigned row) {
  load_matrices<1>(row, a);
}
template <class A, class B>
SIMT_INLINE void ldmatrix_x2_trans(A& a, B& b, unsigned row) {
  load_matrices<1>(row, a, b);
}
template <class A, class B, class C, class D>
SIMT_INLINE void ldmatrix_x4_trans(A& a, B& b, C& c, D& d, unsigned row) {
  load_matrices<1>(row, a, b, c, d);
}
template <class T>
SIMT_INLINE unsigned word(const T& value) {
  return bits<unsigned>(value);
}
#define SIMT_MMA(name, product)                                                               \
  template <class D, class A0, class A1, class A2, class A3, class B0, class B1, class C>     \
  SIMT_INLINE void name(D& d0, D& d1, D& d2, D& d3, A0 a0, A1 a1, A2 a2, A3 a3, B0 b0, B1 b1, \
                        C c0, C c1, C c2, C c3) {                                             \
    float sums[4] = {c0, c1, c2, c3};                                                         \
    const unsigned a[4] = {word(a0), word(a1), word(a2), word(a3)};                           \
    const unsigned b[2] = {word(b0), word(b1)};                                               \
    product(sums, a, b);                                                                      \
    d0 = sums[0], d1 = sums[1], d2 = sums[2], d3 = sums[3];                                   \
  }
SIMT_MMA(mma_f32_f16, mma_half)
SIMT_MMA(mma_f32_bf16, mma_bfloat)
SIMT_MMA(mma_f32_tf32, mma_tf32)
#undef SIMT_MMA
template <class D, class A, class B, class C>
SIMT_INLINE void mma_f16_f16(D& d0, D& d1, A a0, A a1, A a2, A a3, B b0, B b1, C c0, C c1) {
  unsigned sums[2] = {word(c0), word(c1)};
  const unsigned a[4] = {word(a0), word(a1), word(a2), word(a3)}, b[2] = {word(b0), word(b1)};
  mma_into_halves(sums, a, b);
  d0 = bits<D>(sums[0]);
  d1 = bits<D>(sums[1]);
}
template <class D, class A, class B, class C>
SIMT_INLINE void mma_f64(D& d0, D& d1, A a, B b, C c0, C c1) {
  // m8n8k4: the rows 8 … 15 of the model's product stay zero.
  double sums[4] = {c0, c1, 0, 0};
  simt_mma_f64(sums, a, 0, b);
  d0 = sums[0], d1 = sums[1];
}

// ---- loads and stores: the cache's hints change nothing here
template <class R, class P>
SIMT_INLINE void load(R& out, P from) {
  out = *(const R*)from;
}
template <class R, class P>
SIMT_INLINE void load_v2(R& x, R& y, P from) {
  struct alignas(2 * sizeof(R)) Two {
    R x, y;
  };
  const Two both = *(const Two*)from;
  x = both.x, y = both.y;
}
template <class R, class P>
SIMT_INLINE void load_v4(R& x, R& y, R& z, R& w, P from) {
  struct alignas(4 * sizeof(R)) Four {
    R x, y, z, w;
  };
  const Four all = *(const Four*)from;
  x = all.x, y = all.y, z = all.z, w = all.w;
}
template <class R, class P>
SIMT_INLINE void store(P to, R value) {
  *(R*)to = value;
}
template <class R, class P>
SIMT_INLINE void store_v2(P to, R x, R y) {
  struct alignas(2 * sizeof(R)) Two {
    R x, y;
  };
  *(Two*)to = Two{x, y};
}
template <class R, class P>
SIMT_INLINE void store_v4(P to, R x, R y, R z, R w) {
  struct alignas(4 * sizeof(R)) Four {
    R x, y, z, w;
  };
  *(Four*)to = Four{x, y, z, w};
}
template <class R>
SIMT_INLINE void load_shared(R& out, unsigned from) {
  out = *reinterpret_cast<const R*>(shared_pointer(from));
}
template <class R>
SIMT_INLINE void store_shared(unsigned to, R value) {
  *reinterpret_cast<R*>(shared_pointer(to)) = value;
}

// ---- arithmetic
SIMT_INLINE unsigned logic(unsigned a, unsigned b, unsigned c, unsigned table) {
  unsigned out = 0;
  for (unsigned row = 0; row < 8; ++row) {
    if (!(table >> row & 1)) continue;
    out |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
  }
  return out;
}
template <class R>
SIMT_INLINE void lop3(R& out, unsigned a, unsigned b, unsigned c, unsigned table) {
  out = static_cast<R>(logic(a, b, c, table));
}
template <class R>
SIMT_INLINE void bfind(R& out, unsigned a) {
  out = a ? static_cast<R>(31 - __builtin_clz(a)) : static_cast<R>(0xffffffffu);
}
template <class R>
SIMT_INLINE void bfe(R& out, unsigned a, unsigned begin, unsigned length) {
  begin &= 0xff;
  length &= 0xff;
  const std::uint64_t mask = length >= 32 ? 0xffffffffu : (1ull << length) - 1;
  out = static_cast<R>(begin >= 32 ? 0 : (a >> begin) & mask);
}
template <class R>
SIMT_INLINE void bfi(R& out, unsigned a, unsigned b, unsigned begin, unsigned length) {
  const std::uint64_t ones = length >= 32 ? 0xffffffffull : (1ull << length) - 1;
  const auto mask = static_cast<unsigned>(begin >= 32 ? 0 : ones << begin);
  out = static_cast<R>((b & ~mask) | (begin >= 32 ? 0 : (a << begin) & mask));
}
#define SIMT_ONE(name, type, value)       \
  template <class R>                      \
  SIMT_INLINE void name(R& out, type a) { \
    out = value;                          \
  }
SIMT_ONE(ex2, float, exp2f(a))
SIMT_ONE(lg2, float, log2f(a))
SIMT_ONE(rcp, float, 1.0f / a)
SIMT_ONE(rsqrt, float, 1.0f / sqrtf(a))
SIMT_ONE(sqrt, float, sqrtf(a))
SIMT_ONE(sine, float, sinf(a))
SIMT_ONE(cosine, float, cosf(a))
SIMT_ONE(tanh, float, tanhf(a))
SIMT_ONE(brev, unsigned, __brev(a))
SIMT_ONE(clz, unsigned, a ? __builtin_clz(a) : 32)
// To the nearest, ties away from zero, as cvt.rna does.
SIMT_ONE(to_tf32, float, bits<R>((bits<unsigned>(a) + 0x1000u) & 0xffffe000u))
#undef SIMT_ONE
#define SIMT_TWO(name, type, value)               \
  template <class R>                              \
  SIMT_INLINE void name(R& out, type a, type b) { \
    out = static_cast<R>(value);                  \
  }
SIMT_TWO(mul_wide, unsigned, static_cast<std::uint64_t>(a) * b)
SIMT_TWO(mul_wide_signed, int, static_cast<std::int64_t>(a) * b)
SIMT_TWO(mul_hi, unsigned, static_cast<std::uint64_t>(a) * b >> 32)
SIMT_TWO(mul_hi_signed, int, static_cast<std::int64_t>(a) * b >> 32)
#undef SIMT_TWO
template <class R, class T>
SIMT_INLINE void minimum(R& out, T a, T b) {
  out = b < a ? b : a;
}
template <class R, class T>
SIMT_INLINE void maximum(R& out, T a, T b) {
  out = a < b ? b : a;
}
template <class R>
SIMT_INLINE void prmt(R& out, unsigned a, unsigned b, unsigned selector) {
  out = static_cast<R>(__byte_perm(a, b, selector));
}
template <class R>
SIMT_INLINE void cvt_f16x2(R& out, float high, float low) {
  out = bits<R>(__half2(__half(low), __half(high)));
}

// ---- between the lanes
template <class R, class T>
SIMT_INLINE void shfl_bfly(R& out, T value, int argument, unsigned, unsigned mask) {
  out = bits<R>(__shfl_xor_sync(mask, value, argument));
}
template <class R, class T>
SIMT_INLINE void shfl_down(R& out, T value, unsigned argument, unsigned, unsigned mask) {
  out = bits<R>(__shfl_down_sync(mask, value, argument));
}
template <class R, class T>
SIMT_INLINE void shfl_up(R& out, T value, unsigned argument, unsigned, unsigned mask) {
  out = bits<R>(__shfl_up_sync(mask, value, argument));
}
template <class R, class T>
SIMT_INLINE void shfl_idx(R& out, T value, int argument, unsigned, unsigned mask) {
  out = bits<R>(__shfl_sync(mask, value, argument));
}
template <class P, class T>
SIMT_INLINE void red_add(P to, T value) {
  atomicAdd((T*)to, value);
}
template <class R, class P, class T>
SIMT_INLINE void atom_add(R& old, P to, T value) {
  old = atomicAdd((T*)to, value);
}

}  // namespace simt::ptx
