#pragma once
// The outcome of a check or a call: a code and, where it failed, one sentence that names the
// argument and its value. A plain value: no heap, no exceptions.

#include <cstdint>

namespace warpladder::runtime {

// The values are those of warpladder_status in the C interface.
enum class Code : int {
  success = 0,
  invalid_argument = 1,
  invalid_handle = 2,
  workspace_too_small = 3,
  out_of_memory = 4,
  no_device = 5,
  unsupported_device = 6,
  wrong_device = 7,
  forked = 8,
  cuda_error = 9,
  capturing = 10,
  no_compiler = 11,
};

struct Status {
  static constexpr int kSentenceBytes = 256;
  Code code = Code::success;
  char sentence[kSentenceBytes];

  // A call makes a dozen that succeed: no sentence is cleared for them.
  Status() noexcept { sentence[0] = '\0'; }
  bool ok() const { return code == Code::success; }
};

// A failure, with a sentence written as printf writes it.
[[gnu::format(printf, 2, 3)]] Status refuse(Code code, const char* format, ...) noexcept;
[[gnu::format(printf, 1, 2)]] Status refuse_argument(const char* format, ...) noexcept;

// printf's %lld wants this type; std::int64_t is another one on some systems.
constexpr long long number(std::int64_t value) { return value; }

// Elements from the first to the last of `lines` lines of `line` elements, `stride` apart. False
// where they are too many to address.
inline bool extent_of(std::int64_t lines, std::int64_t line, std::int64_t stride,
                      std::int64_t* elements) {
  *elements = 0;
  if (lines == 0 || line == 0) return true;
  return !__builtin_mul_overflow(lines - 1, stride, elements) &&
         !__builtin_add_overflow(*elements, line, elements) && *elements <= INT64_MAX / 8;
}

}  // namespace warpladder::runtime
