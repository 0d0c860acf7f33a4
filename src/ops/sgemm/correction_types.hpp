#pragma once
// The corrections of plan()'s model are data, tuning/sm_*/sgemm_corrections.json, made by
// tools/fit_plans.py of times that were measured. A rung's correction is a sum of trees. Each asks
// three yes-or-no questions on the shape.

#include <array>
#include <cstdint>

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

constexpr int kTraits = 14;  // traits_of()
using ShapeTraits = std::array<float, kTraits>;

// Node i asks whether trait[i] lies above above[i]: no leads to node 2·i + 1, yes to the next one.
struct Tree {
  static constexpr int kLevels = 3, kQuestions = 7, kLeaves = 8;
  std::uint8_t trait[kQuestions];
  float above[kQuestions];
  float leaf[kLeaves];  // a summand of the logarithm to base 2
};

struct Forest {
  const Tree* trees = nullptr;
  int count = 0;
};

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
