#pragma once
// Arrays, texture and surface objects: one or two dimensions, point and linear filtering, wrap,
// clamp and border. Texture reads are checked against the array, and not counted.

#include <cmath>

#include "simt/runtime_api.hpp"

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
namespace simt {
// The element of a vector type, or the type itself.
template <class T, class = void>
struct Channel {
  using type = T;
};
template <class T>
struct Channel<T, std::void_t<decltype(T::x)>> {
  using type = decltype(T::x);
};
}  // namespace simt
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Element = typename simt::Channel<T>::type;
  constexpr int kBits = sizeof(Element) * 8, kCount = sizeof(T) / sizeof(Element);
  const cudaChannelFormatKind kind = !std::is_integral_v<Element> ? cudaChannelFormatKindFloat
                                     : std::is_signed_v<Element>  ? cudaChannelFormatKindSigned
                                                                  : cudaChannelFormatKindUnsigned;
  return {kBits, kCount > 1 ? kBits : 0, kCount > 2 ? kBits : 0, kCount > 3 ? kBits : 0, kind};
}

struct cudaArray {
  void* data;
  std::size_t width, height, depth, element_bytes;
  cudaChannelFormatDesc channels;
};
typedef cudaArray* cudaArray_t;
typedef const cudaArray* cudaArray_const_t;
enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
};
struct cudaResourceViewDesc {};
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
#define cudaArrayDefault 0
#define cudaArrayLayered 1
#define cudaArraySurfaceLoadStore 2
#define cudaArrayTextureGather 8
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                                   std::size_t width, std::size_t height = 0, unsigned = 0) {
  const auto bits = static_cast<std::size_t>(channels->x + channels->y + channels->z + channels->w);
  *array = new cudaArray{nullptr, width, height ? height : 1, 1, bits / 8, *channels};
  const std::size_t bytes = width * (*array)->height * bits / 8;
  const cudaError_t error = program_allocate(&(*array)->data, bytes, simt::kDevice);
  if (!error) program_note_written((*array)->data, bytes);  // by surfaces, unseen
  return error;
}
inline cudaError_t cudaFreeArray(cudaArray_t array) {
  if (!array) return cudaSuccess;
  const cudaError_t error = cudaFree(array->data);
  delete array;
  return error;
}
inline cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                                     cudaExtent extent, unsigned = 0) {
  const std::size_t rows = std::max<std::size_t>(extent.height, 1);
  const cudaError_t error =
      cudaMallocArray(array, channels, extent.width, rows * std::max<std::size_t>(extent.depth, 1));
  (*array)->height = rows;
  (*array)->depth = extent.depth;
  return error;
}
// Widths and places along x are in bytes, or in elements where an array takes part.
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
namespace simt {
inline char* row_of(cudaArray_t array, const cudaPitchedPtr& pointer, const cudaPos& place,
                    std::size_t unit, std::size_t y, std::size_t z) {
  if (!array) {
    const std::size_t row = (place.z + z) * pointer.ysize + place.y + y;
    return (char*)pointer.ptr + row * pointer.pitch + place.x * unit;
  }
  const std::size_t row = (place.z + z) * array->height + place.y + y;
  return (char*)array->data + (row * array->width + place.x) * array->element_bytes;
}
}  // namespace simt
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  const std::size_t unit = p->srcArray   ? p->srcArray->element_bytes
                           : p->dstArray ? p->dstArray->element_bytes
                                         : 1;
  for (std::size_t z = 0; z < p->extent.depth; ++z) {
    for (std::size_t y = 0; y < p->extent.height; ++y) {
      const cudaError_t error =
          cudaMemcpy(simt::row_of(p->dstArray, p->dstPtr, p->dstPos, unit, y, z),
                     simt::row_of(p->srcArray, p->srcPtr, p->srcPos, unit, y, z),
                     p->extent.width * unit, p->kind);
      if (error) return error;
    }
  }
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t = nullptr) {
  return cudaMemcpy3D(p);
}
inline cudaError_t cudaMemcpyToArray(cudaArray_t array, std::size_t, std::size_t, const void* from,
                                     std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpy(array->data, from, bytes, kind);
}
inline cudaError_t cudaMemcpy2DToArray(cudaArray_t array, std::size_t x, std::size_t y,
                                       const void* from, std::size_t pitch, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind) {
  const std::size_t row = array->width * array->element_bytes;
  return cudaMemcpy2D((char*)array->data + y * row + x, row, from, pitch, width, height, kind);
}
inline cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t array,
                                         std::size_t x, std::size_t y, std::size_t width,
                                         std::size_t height, cudaMemcpyKind kind) {
  const std::size_t row = array->width * array->element_bytes;
  return cudaMemcpy2D(to, pitch, (char*)array->data + y * row + x, row, width, height, kind);
}

namespace simt {
struct Texture {
  char* data;
  std::size_t width, height, pitch;
  cudaTextureDesc description;
  cudaChannelFormatDesc channels;
};
inline Texture texture_of(const cudaResourceDesc& r) {
  if (r.resType == cudaResourceTypeArray) {
    const cudaArray& a = *r.res.array.array;
    return {(char*)a.data, a.width, a.height, a.width * a.element_bytes, {}, a.channels};
  }
  if (r.resType == cudaResourceTypePitch2D) {
    const auto& p = r.res.pitch2D;
    return {(char*)p.devPtr, p.width, p.height, p.pitchInBytes, {}, p.desc};
  }
  const auto& l = r.res.linear;
  const auto bits = static_cast<std::size_t>(l.desc.x + l.desc.y + l.desc.z + l.desc.w);
  return {(char*)l.devPtr, l.sizeInBytes * 8 / bits, 1, l.sizeInBytes, {}, l.desc};
}
}  // namespace simt
inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* r,
                                           const cudaTextureDesc* description,
                                           const cudaResourceViewDesc*) {
  auto* const texture = new simt::Texture(simt::texture_of(*r));
  texture->description = *description;
  *object = (cudaTextureObject_t)texture;
  return cudaSuccess;
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  delete (simt::Texture*)object;
  return cudaSuccess;
}
inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* r) {
  *object = (cudaSurfaceObject_t) new simt::Texture(simt::texture_of(*r));
  return cudaSuccess;
}
inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return cudaDestroyTextureObject(object);
}

namespace simt {
#define SIMT_TEXEL __attribute__((no_sanitize("thread"), noinline))
// Where index i of n lies by the address mode; -1: in the border.
SIMT_TEXEL inline long place(long i, long n, cudaTextureAddressMode mode, bool normalized) {
  if (mode == cudaAddressModeWrap && normalized) return (i % n + n) % n;
  if (mode == cudaAddressModeMirror && normalized) {
    const long twice = (i % (2 * n) + 2 * n) % (2 * n);
    return twice < n ? twice : 2 * n - 1 - twice;
  }
  if (mode == cudaAddressModeBorder) return i >= 0 && i < n ? i : -1;
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}
template <class T>
SIMT_TEXEL T texel(const Texture* t, long x, long y) {
  const cudaTextureDesc& d = t->description;
  x = place(x, static_cast<long>(t->width), d.addressMode[0], d.normalizedCoords);
  y = place(y, static_cast<long>(t->height), d.addressMode[1], d.normalizedCoords);
  if (x < 0 || y < 0) return T{};
  const char* const at = t->data + static_cast<std::size_t>(y) * t->pitch;
  if constexpr (std::is_same_v<T, float>) {
    if (d.readMode == cudaReadModeNormalizedFloat && t->channels.x < 32) {
      const double most = (1u << t->channels.x) - 1;
      if (t->channels.x == 8) return static_cast<float>(((const unsigned char*)at)[x] / most);
      return static_cast<float>(((const unsigned short*)at)[x] / most);
    }
  }
  T value;
  __builtin_memcpy(&value, at + static_cast<std::size_t>(x) * sizeof(T), sizeof value);
  return value;
}
// The hardware's weights have 8 bits of fraction.
template <class T>
SIMT_TEXEL T filtered(const Texture* t, float x, float y) {
  if (t->description.normalizedCoords) {
    x *= static_cast<float>(t->width);
    y *= static_cast<float>(t->height);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (t->description.filterMode == cudaFilterModeLinear) {
      x -= 0.5f, y -= 0.5f;
      const float left = std::floor(x), top = std::floor(y);
      const float a = std::rint((x - left) * 256) / 256, b = std::rint((y - top) * 256) / 256;
      const long i = static_cast<long>(left), j = static_cast<long>(top);
      return (1 - a) * (1 - b) * texel<T>(t, i, j) + a * (1 - b) * texel<T>(t, i + 1, j) +
             (1 - a) * b * texel<T>(t, i, j + 1) + a * b * texel<T>(t, i + 1, j + 1);
    }
  }
  return texel<T>(t, static_cast<long>(std::floor(x)), static_cast<long>(std::floor(y)));
}
template <class T>
SIMT_TEXEL T layered(const Texture* t, float x, float y, int layer) {
  Texture one = *t;
  one.data += static_cast<std::size_t>(layer) * one.height * one.pitch;
  return filtered<T>(&one, x, y);
}
template <class T>
SIMT_TEXEL void store(Texture* t, T value, int byte, int y) {
  const bool inside = byte >= 0 && y >= 0 && static_cast<std::size_t>(byte) < t->pitch &&
                      static_cast<std::size_t>(y) < t->height;
  if (inside)
    __builtin_memcpy(t->data + static_cast<std::size_t>(y) * t->pitch + byte, &value, sizeof value);
}
#undef SIMT_TEXEL
}  // namespace simt
template <class T>
SIMT_INLINE T tex1Dfetch(cudaTextureObject_t t, int x) {
  return simt::texel<T>((simt::Texture*)t, x, 0);
}
template <class T>
SIMT_INLINE T tex1D(cudaTextureObject_t t, float x) {
  return simt::filtered<T>((simt::Texture*)t, x, 0.5f);
}
template <class T>
SIMT_INLINE T tex2D(cudaTextureObject_t t, float x, float y) {
  return simt::filtered<T>((simt::Texture*)t, x, y);
}
template <class T>
SIMT_INLINE T tex2DLayered(cudaTextureObject_t t, float x, float y, int layer) {
  return simt::layered<T>((simt::Texture*)t, x, y, layer);
}
template <class T>
SIMT_INLINE void surf2Dwrite(T value, cudaSurfaceObject_t s, int byte, int y,
                             cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  simt::store((simt::Texture*)s, value, byte, y);
}
template <class T>
SIMT_INLINE T surf2Dread(cudaSurfaceObject_t s, int byte, int y,
                         cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  return simt::texel<T>((simt::Texture*)s, byte / static_cast<int>(sizeof(T)), y);
}
template <class T>
SIMT_INLINE void surf2Dread(T* value, cudaSurfaceObject_t s, int byte, int y,
                            cudaSurfaceBoundaryMode = cudaBoundaryModeTrap) {
  *value = surf2Dread<T>(s, byte, y);
}
