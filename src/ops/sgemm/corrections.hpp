#pragma once
// What measurements have taught beside the model: how many times as long a rung takes on a shape as
// the model says. Host code of plan().

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "ops/sgemm/corrections_table.hpp"
#include "ops/sgemm/problem.hpp"
#include "runtime/machine.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

// What trees ask of `count` row-major products, in the order that tools/fit_plans.py knows. The
// larger operand is that with more lines.
inline ShapeTraits traits_of(const Problem& p, std::int64_t count = 1) {
  const auto log2_of = [](double x) { return static_cast<float>(std::log2(x)); };
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  const bool is_wide = p.m <= p.n;
  const std::int64_t few = std::min(p.m, p.n),
                     lines = (p.trans_a ? p.m : p.k) | (p.trans_b ? p.k : p.n);
  const auto blocks = [](std::int64_t size, std::int64_t of) { return (size + of - 1) / of; };
  const auto products = static_cast<double>(std::max<std::int64_t>(count, 1));
  const double of_c = static_cast<double>(blocks(p.m, 64) * blocks(p.n, 64)) * products;
  const auto waves = static_cast<float>(of_c / 132.0);
  return {log2_of(static_cast<double>(few)),
          log2_of(std::max(m, n)),
          log2_of(k),
          log2_of((m + n) * k + m * n),
          log2_of(m * n),
          lines % 4 == 0   ? 4.0f
          : lines % 2 == 0 ? 2.0f
                           : 1.0f,
          (is_wide ? p.trans_b : !p.trans_a) ? 1.0f : 0.0f,
          (is_wide ? !p.trans_a : p.trans_b) ? 1.0f : 0.0f,
          p.n % 4 == 0 ? 1.0f : 0.0f,
          static_cast<float>(blocks(few, 16) * 16) / static_cast<float>(few),
          waves / std::ceil(waves),
          log2_of(m / n),
          log2_of(products),
          log2_of(of_c)};
}

// The corrections were learned on an NVIDIA H200, whose memory is so fast: a model's time is
// corrected as it was there. Hopper's other GPUs differ in little else.
constexpr double kLearnedMemoryBytesPerS = 4.814e12;

// The corrections of the machine's architecture; null where nobody has measured.
inline const Corrections* corrections_of(const runtime::Machine& machine) {
  const auto* found = std::ranges::find(kCorrections, machine.capability, &Corrections::capability);
  return found != std::end(kCorrections) && machine.hopper_code ? found : nullptr;
}

inline float answer_of(const Tree& tree, const ShapeTraits& traits) {
  int node = 0;
  for (int level = 0; level < Tree::kLevels; ++level) {
    node = 2 * node + (traits[tree.trait[node]] > tree.above[node] ? 2 : 1);
  }
  return tree.leaf[node - Tree::kQuestions];
}

// How many times as long as by the model.
inline double correction_of(const Forest& forest, const ShapeTraits& traits) {
  float log2_of_it = 0;
  for (int i = 0; i < forest.count; ++i) log2_of_it += answer_of(forest.trees[i], traits);
  return std::exp2(log2_of_it);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
