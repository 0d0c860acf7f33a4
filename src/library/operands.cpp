#include "library/operands.hpp"

#include <algorithm>

namespace warpladder::library {
namespace {

using runtime::refuse_argument;
using runtime::Status;

constexpr std::int64_t kFloatBytes = 4;

std::int64_t first_float(const Region& x) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x.data)) / kFloatBytes;
}
bool empty(const Region& x) { return x.lines == 0 || x.length == 0 || x.batch == 0; }
std::int64_t matrix_extent(const Region& x) { return (x.lines - 1) * x.ld + x.length; }
std::int64_t extent(const Region& x) { return (x.batch - 1) * x.stride + matrix_extent(x); }

bool meet(std::int64_t a, std::int64_t a_size, std::int64_t b, std::int64_t b_size) {
  return a < b + b_size && b < a + a_size;
}

// Whether lines × length at 0 and other_lines × other_length at `offset`, all with leading
// dimension ld, share an element. They are parts of one matrix, of which the second may reach
// across a line's end.
bool rectangles_meet(std::int64_t lines, std::int64_t length, std::int64_t other_lines,
                     std::int64_t other_length, std::int64_t offset, std::int64_t ld) {
  std::int64_t line = offset / ld, place = offset % ld;
  if (place < 0) place += ld, --line;
  const std::int64_t here = std::min(other_length, ld - place), beyond = other_length - here;
  return (meet(0, lines, line, other_lines) && meet(0, length, place, here)) ||
         (beyond > 0 && meet(0, lines, line + 1, other_lines) && meet(0, length, 0, beyond));
}

// The leading dimension that both have; 0 if they have none in common. One line has any.
std::int64_t common_ld(const Region& x, const Region& y) {
  if (x.lines == 1 && y.lines == 1) return std::max(x.length, y.length);
  if (x.lines == 1 && x.length <= y.ld) return y.ld;
  if (y.lines == 1 && y.length <= x.ld) return x.ld;
  return x.ld == y.ld && x.ld >= std::max(x.length, y.length) ? x.ld : 0;
}

// The stride that both batches have; 0 if they have none in common. One matrix has any.
std::int64_t common_stride(const Region& x, const Region& y) {
  if (x.batch == 1) return y.batch == 1 ? 1 : y.stride;
  if (y.batch == 1) return x.stride;
  return x.stride == y.stride ? x.stride : 0;
}

}  // namespace

Status check_pointer(const char* operation, const char* name, const void* pointer,
                     std::int64_t elements, int bytes) noexcept {
  if (elements == 0) return {};
  if (!pointer) {
    return refuse_argument("%s: %s is null, but has %lld elements", operation, name,
                           runtime::number(elements));
  }
  if (reinterpret_cast<std::uintptr_t>(pointer) % static_cast<unsigned>(bytes) != 0) {
    return refuse_argument("%s: %s is %p, which is no multiple of %d bytes", operation, name,
                           pointer, bytes);
  }
  return {};
}

bool overlap(const Region& x, const Region& y) noexcept {
  if (empty(x) || empty(y)) return false;
  const std::int64_t offset = first_float(y) - first_float(x);
  if (!meet(0, extent(x), offset, extent(y))) return false;
  const std::int64_t ld = common_ld(x, y), stride = common_stride(x, y);
  if (ld == 0 || stride == 0) return true;
  // Matrix i of x and i + apart of y lie offset + apart · stride from each other.
  for (std::int64_t apart = 1 - x.batch; apart < y.batch; ++apart) {
    const std::int64_t between = offset + apart * stride;
    if (!meet(0, matrix_extent(x), between, matrix_extent(y))) continue;
    if (rectangles_meet(x.lines, x.length, y.lines, y.length, between, ld)) return true;
  }
  return false;
}

bool overlaps_itself(const Region& x) noexcept {
  if (empty(x)) return false;
  for (std::int64_t apart = 1; apart < x.batch; ++apart) {
    const std::int64_t between = apart * x.stride;
    if (between >= matrix_extent(x)) return false;
    if (rectangles_meet(x.lines, x.length, x.lines, x.length, between, x.ld)) return true;
  }
  return false;
}

Status check_apart(const char* operation, const char* out_name, const Region& out,
                   const char* in_name, const Region& in) noexcept {
  if (!overlap(out, in)) return {};
  return refuse_argument("%s: %s at %p overlaps %s at %p", operation, out_name, out.data, in_name,
                         in.data);
}

}  // namespace warpladder::library
