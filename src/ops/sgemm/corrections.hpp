#pragma once
// What measurements have taught beside the model: how many times as long a rung takes on a shape as
// the model says. Host code of plan().

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "ops/sgemm/corrections_table.hpp"
#include "ops/sgemm/plan.hpp"
#include "ops/sgemm/problem.hpp"
#include "runtime/machine.hpp"

namespace warpladder::sgemm {
inline namespace WARPLADDER_FLAVOUR {

inline float log2_of(double x) { return static_cast<float>(std::log2(x)); }
inline std::int64_t blocks(std::int64_t size, std::int64_t of) { return (size + of - 1) / of; }

// Traits of `count` row-major products, in the order that tools/fit_plans.py knows. The larger
// operand is that with more lines.
inline ShapeTraits traits_of(const Problem& p, std::int64_t count = 1) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  const bool is_wide = p.m <= p.n;
  const std::int64_t few = std::min(p.m, p.n), of_a = p.trans_a ? p.m : p.k,
                     of_b = p.trans_b ? p.k : p.n;  // elements of a line in memory
  const auto width = [](std::int64_t line) {        // that may be copied at once
    return line % 4 == 0 ? 4.0f : line % 2 == 0 ? 2.0f : 1.0f;
  };
  const auto padding = [](std::int64_t size, std::int64_t of) {
    return static_cast<float>(blocks(size, of) * of) / static_cast<float>(size);
  };
  const auto products = static_cast<double>(std::max<std::int64_t>(count, 1));
  const double of_c = static_cast<double>(blocks(p.m, 64) * blocks(p.n, 64)) * products;
  const auto waves = static_cast<float>(of_c / 132.0);
  return {log2_of(static_cast<double>(few)),
          log2_of(std::max(m, n)),
          log2_of(k),
          log2_of(((m + n) * k + m * n) * products),
          log2_of(m * n),
          width(is_wide ? of_b : of_a),
          (is_wide ? p.trans_b : !p.trans_a) ? 1.0f : 0.0f,
          (is_wide ? !p.trans_a : p.trans_b) ? 1.0f : 0.0f,
          p.n % 4 == 0 ? 1.0f : 0.0f,
          padding(few, 16),
          waves / std::ceil(waves),
          log2_of(m / n),
          log2_of(products),
          log2_of(of_c),
          padding(p.k, 8),
          padding(p.k, 32),
          log2_of(m * n * k * products),
          width(is_wide ? of_a : of_b)};
}

// Traits of a candidate for them: its cut, the waves of its CTAs, and what tiles waste at C's ends.
// Also how often A and B are read, and its time by the model.
inline CutTraits traits_of(const Candidate& candidate, const Problem& p, std::int64_t count = 1) {
  constexpr double kTimeUnit_s = 1e-8;
  constexpr float kMostWaves = 6;
  const float time = log2_of(candidate.model_s / kTimeUnit_s);
  const Cut& cut = candidate.cut;
  if (cut.rows == 0) return {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, time};
  const auto rows = static_cast<double>(cut.rows), columns = static_cast<double>(cut.columns),
             m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             down = static_cast<double>(blocks(p.m, cut.rows)),
             across = static_cast<double>(blocks(p.n, cut.columns)),
             slices = static_cast<double>(cut.slices * std::max<std::int64_t>(count, 1)),
             waves = down * across * slices / 132.0;
  return {log2_of(rows),
          log2_of(columns),
          log2_of(static_cast<double>(cut.slices)),
          log2_of(static_cast<double>(std::max<std::int64_t>(cut.steps, 1))),
          log2_of(waves),
          static_cast<float>(waves / std::ceil(waves)),
          std::min(kMostWaves, static_cast<float>(std::ceil(waves))),
          cut.partly ? 1.0f : 0.0f,
          static_cast<float>(m / (down * rows)),
          static_cast<float>(n / (across * columns)),
          log2_of(down * across * (rows + columns) / (m + n)),
          time};
}

// The corrections were learned on an NVIDIA H200, whose memory is so fast: a model's time is
// corrected as it was there. Hopper's other GPUs differ in little else.
constexpr double kLearnedMemoryBytesPerS = 4.814e12;

// The corrections of the machine's architecture; null where nobody has measured.
inline const Corrections* corrections_of(const runtime::Machine& machine) {
  const auto* found = std::ranges::find(kCorrections, machine.capability, &Corrections::capability);
  return found != std::end(kCorrections) && machine.hopper_code ? found : nullptr;
}

inline int bin_of(const Edges& edges, float trait) {
  return static_cast<int>(std::ranges::lower_bound(edges, trait) - edges.begin());
}

// Sets the bins of traits, of which the first is trait number `first`.
template <class Traits>
void set_bins(Bins& bins, const Corrections& corrections, std::size_t first, const Traits& traits) {
  for (std::size_t i = 0; i < traits.size(); ++i) {
    const int bin = bin_of(corrections.edges[first + i], traits[i]);
    bins[static_cast<std::size_t>(kAlphabet[first + i])] = kAlphabet[static_cast<std::size_t>(bin)];
  }
}

inline int answer_of(const Tree& tree, const Bins& bins) {
  int node = 0;
  for (int level = 0; level < Tree::kLevels; ++level) {
    node = 2 * node + (tree.answer(node, bins) ? 2 : 1);
  }
  return tree.leaf(node - Tree::kQuestions);
}

// How many times as long as by the model.
inline double correction_of(const Forest& forest, const Bins& bins) {
  int log2_of_it = 0;  // in thousandths
  for (int i = 0; i < forest.trees; ++i) {
    log2_of_it += answer_of({forest.text + i * Tree::kLength}, bins);
  }
  return std::exp2(log2_of_it / 1000.0);
}

}  // namespace WARPLADDER_FLAVOUR
}  // namespace warpladder::sgemm
