#pragma once
// What the user is told, on stderr, and counts of what became of each call. Takes no heap memory.

#include <cstdint>

#include "symbols.hpp"

namespace warpladder::cublas {

// What becomes of a call.
enum class Outcome : int {
  taken,
  tf32,
  environment,
  math_mode,
  device_scalars,
  sm_target,
  types,
  compute_type,
  algorithm,
  operation,
  arguments,
  too_small,
  rule,
  layouts,
  epilogue,
  scaling,
  kernel_stream,
  no_context,
  capture,
  no_memory,
  refused,
  failed,  // cuBLAS cannot repeat it: the output has changed
  count
};
constexpr int kOutcomes = static_cast<int>(Outcome::count);
const char* sentence_of(Outcome outcome) noexcept;

// One line on stderr.
[[gnu::format(printf, 1, 2)]] void report(const char* format, ...) noexcept;

// A call of these sizes. With WARPLADDER_CUBLAS=log, the first of its kind is told.
struct Sizes {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  char op_a = 'n', op_b = 'n';
  bool known = true;  // false: the call was refused before they were read
};
void count(Function function, const Sizes& sizes, Outcome outcome) noexcept;

// A function that the program looked up by handle.
void report_looked_up(const char* name) noexcept;

// The library's refusal of a call, once for each status.
void report_refusal(Function function, int status, const char* status_name,
                    const char* sentence) noexcept;

// The verdict on a call that both have computed.
struct Verdict {
  unsigned long long wrong = 0;  // elements beyond the bound
  float worst = 0;               // the largest difference, as a share of the bound
};
void note_verdict(Function function, const Sizes& sizes, const Verdict& verdict) noexcept;

}  // namespace warpladder::cublas
