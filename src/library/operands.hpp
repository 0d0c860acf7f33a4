#pragma once
// Judges of operands: null and misaligned pointers, and elements that two operands share.

#include <cstdint>

#include "runtime/status.hpp"

namespace warpladder::library {

// A pointer to `elements` elements of `bytes` bytes each; null only where there are none.
runtime::Status check_pointer(const char* operation, const char* name, const void* pointer,
                              std::int64_t elements, int bytes) noexcept;

// Elements of an operand in device memory: `lines` lines of `length` floats, `ld` apart, of each of
// `batch` matrices, `stride` apart.
struct Region {
  const void* data;
  std::int64_t lines, length, ld;
  std::int64_t batch = 1, stride = 0;
};
inline Region vector_of(const void* data, std::int64_t words) { return {data, 1, words, words}; }

// Whether the two share a float. Exact where both have the same ld and stride, as parts of one
// matrix have. Otherwise true where the addresses from the first element to the last meet.
bool overlap(const Region& x, const Region& y) noexcept;
// Whether two matrices of the region share a float.
bool overlaps_itself(const Region& x) noexcept;

// Refuses `out` if it shares a float with `in`.
runtime::Status check_apart(const char* operation, const char* out_name, const Region& out,
                            const char* in_name, const Region& in) noexcept;

}  // namespace warpladder::library
