#pragma once
// How results are judged, the same for every operator with floating-point outputs.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ops/lab/operator.hpp"

namespace warpladder::ops {

// Outputs are filled with this NaN before a rung runs: an element that still holds it was never
// written. Its bits differ from the NaN that arithmetic makes.
constexpr std::uint32_t kPoisonBits = 0x7fc0dead;
float poison();

// One output element: the truth, and how far from it a correct fp32 result may lie.
struct Expected {
  double value = 0.0;
  double bound = 0.0;
};

// Passes an element when !(|actual - expected| <= bound) is false, so that NaN fails where a number
// is expected. A NaN or infinity is right only where the truth is the same, or rounds to infinity
// within the bound. `place` names an element in the failure's sentence.
class ElementJudge {
 public:
  explicit ElementJudge(std::function<std::string(std::size_t)> place) : place_(std::move(place)) {}
  void look_at(std::size_t index, float actual, const Expected& expected);
  Verdict verdict() const;

 private:
  std::function<std::string(std::size_t)> place_;
  double worst_ = 0.0;
  std::uint64_t wrong_ = 0, seen_ = 0;
  std::string first_;
};

// Empty if both hold the same bits, else the first difference.
std::string first_changed(std::span<const float> before, std::span<const float> after,
                          const char* what);

}  // namespace warpladder::ops
