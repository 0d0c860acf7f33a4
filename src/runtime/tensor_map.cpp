#include "runtime/tensor_map.hpp"

#include <cuda.h>

#include <atomic>
#include <cstring>

#include "runtime/driver.hpp"

namespace warpladder::runtime {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode find_encode(int& error) noexcept {
  static std::atomic<Encode> known{nullptr};
  if (const Encode encode = known.load(std::memory_order_acquire)) return encode;
  const auto encode = driver_function<Encode>("cuTensorMapEncodeTiled", error);
  known.store(encode, std::memory_order_release);
  return encode;
}

}  // namespace

TensorMap gpu_encode(StreamView& stream, const TiledMatrix& matrix) noexcept {
  TensorMap map = {};
  static_assert(sizeof(CUtensorMap) == sizeof map.bytes && alignof(TensorMap) == 64);
  if (stream.error) return map;
  const Encode encode = find_encode(stream.error);
  if (stream.error) return map;
  const auto bytes = static_cast<cuuint64_t>(matrix.element_bytes);
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(matrix.columns),
                              static_cast<cuuint64_t>(matrix.rows)};
  const cuuint64_t row_bytes[] = {static_cast<cuuint64_t>(matrix.row_elements) * bytes};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(matrix.box_row_bytes() / matrix.element_bytes),
                            static_cast<cuuint32_t>(matrix.box_rows)};
  const cuuint32_t steps[] = {1, 1};
  // Rows of boxes that are not swizzled begin anywhere: more sectors at once would be fetched in
  // vain.
  const CUtensorMapL2promotion sectors = matrix.is_swizzled() ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
                                                              : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  CUtensorMap encoded;
  const CUresult result = encode(
      &encoded, bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
      const_cast<void*>(matrix.data), sizes, row_bytes, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      matrix.is_swizzled() ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE, sectors,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) stream.error = cudaErrorInvalidValue;
  std::memcpy(map.bytes, &encoded, sizeof map.bytes);
  return map;
}

}  // namespace warpladder::runtime
