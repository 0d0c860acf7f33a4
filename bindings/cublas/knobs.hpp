#pragma once
// What the environment asks for. Read once, at the first call.

#include <atomic>
#include <cstdint>

#include "symbols.hpp"

namespace warpladder::cublas {

// A part of the whole numbers; both ends belong to it.
struct Range {
  std::int64_t least = 0, most = INT64_MAX;
  bool holds(std::int64_t value) const { return least <= value && value <= most; }
};

// A line of the rule file: calls of these functions and sizes are taken, or passed on.
struct Rule {
  std::uint32_t functions = 0;  // a bit for each Function
  Range m, n, k, batch;
  bool take = true;
};
constexpr int kMostRules = 256;

// False, with a sentence, where the line is no rule. A line of nothing but a comment gives a rule
// without functions.
bool parse_rule(const char* line, Rule* rule, char* sentence, int sentence_bytes) noexcept;

// What NVIDIA_TF32_OVERRIDE and cuBLAS's own variables ask for.
enum class Precision : std::uint8_t {
  as_asked,    // by handles and compute types
  never_tf32,  // TF32 is forbidden, whatever a handle allows
  theirs,      // TF32 or emulation is wanted everywhere: nothing is taken
};

struct Knobs {
  bool off = false;
  bool log = false;      // a line for each new kind of call
  bool verify = false;   // cuBLAS computes too, and the results are compared
  bool summary = false;  // at exit
  Precision precision = Precision::as_asked;
  std::int64_t least_multiply_adds = 1;
  // With an activation, which is a kernel of its own: at 1000×777×333 a product saves less.
  std::int64_t least_activated = std::int64_t{1} << 28;
  int rules = 0;
  Rule rule[kMostRules];
};

const Knobs& read_knobs() noexcept;
inline std::atomic<const Knobs*> known_knobs{nullptr};
inline const Knobs& knobs() noexcept {
  const Knobs* const known = known_knobs.load(std::memory_order_acquire);
  return known ? *known : read_knobs();
}
inline bool is_off() noexcept { return knobs().off; }

}  // namespace warpladder::cublas
