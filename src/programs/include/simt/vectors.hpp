#pragma once
// CUDA's vector types: plain aggregates, so that unions and braces work. -fno-tree-sra keeps g++
// from splitting the load of a float4 into four.

#include "simt/language.hpp"

typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define SIMT_VECTOR_1(type, element) \
  struct type##1 {                   \
    element x;                       \
  };                                 \
  SIMT_INLINE constexpr type##1 make_##type##1(element x) { return {x}; }
#define SIMT_VECTOR_2(type, element, alignment) \
  struct alignas(alignment) type##2 {           \
    element x, y;                               \
  };                                            \
  SIMT_INLINE constexpr type##2 make_##type##2(element x, element y) { return {x, y}; }
#define SIMT_VECTOR_3(type, element) \
  struct type##3 {                   \
    element x, y, z;                 \
  };
#define SIMT_MAKE_3(type, element)                                                \
  SIMT_INLINE constexpr type##3 make_##type##3(element x, element y, element z) { \
    return {x, y, z};                                                             \
  }
#define SIMT_VECTOR_4(type, element, alignment)                                              \
  struct alignas(alignment) type##4 {                                                        \
    element x, y, z, w;                                                                      \
  };                                                                                         \
  SIMT_INLINE constexpr type##4 make_##type##4(element x, element y, element z, element w) { \
    return {x, y, z, w};                                                                     \
  }
#define SIMT_VECTORS(type, element, of_2, of_4) \
  SIMT_VECTOR_1(type, element)                  \
  SIMT_VECTOR_2(type, element, of_2)            \
  SIMT_VECTOR_3(type, element)                  \
  SIMT_MAKE_3(type, element)                    \
  SIMT_VECTOR_4(type, element, of_4)

SIMT_VECTORS(char, signed char, 2, 4)
SIMT_VECTORS(uchar, unsigned char, 2, 4)
SIMT_VECTORS(short, short, 4, 8)
SIMT_VECTORS(ushort, unsigned short, 4, 8)
SIMT_VECTORS(int, int, 8, 16)
SIMT_VECTOR_1(uint, unsigned)
SIMT_VECTOR_2(uint, unsigned, 8)
SIMT_MAKE_3(uint, unsigned)  // the type is that of threadIdx
SIMT_VECTOR_4(uint, unsigned, 16)
SIMT_VECTORS(long, long, 16, 16)
SIMT_VECTORS(ulong, unsigned long, 16, 16)
SIMT_VECTORS(longlong, long long, 16, 16)
SIMT_VECTORS(ulonglong, unsigned long long, 16, 16)
SIMT_VECTORS(float, float, 8, 16)
SIMT_VECTORS(double, double, 16, 16)
#undef SIMT_VECTORS
#undef SIMT_VECTOR_1
#undef SIMT_VECTOR_2
#undef SIMT_VECTOR_3
#undef SIMT_MAKE_3
#undef SIMT_VECTOR_4
