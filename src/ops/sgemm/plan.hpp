#pragma once
// Problem and machine → rung and workspace. Each flavour plans with its own rungs.

#include "ladder/plan.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {

using Plan = ladder::Plan<Call>;

// The tile of C that a CTA multiplies, 0 where a rung has none, and its share of k.
struct Cut {
  std::int64_t rows = 0, columns = 0, slices = 1, steps = 1;  // steps of a slice
  bool partly = false;  // only C's last rows or columns are sliced
};

// What plan() compares.
struct Candidate {
  Plan plan;
  double model_s = 0;
  Cut cut = {};
};
constexpr int kMostCandidates = 24;

// `prepared`: the call has what plan_preparation()'s rung has prepared of B. Only then may the plan
// be that rung.
WARPLADDER_IN_EACH_FLAVOUR(
    Plan plan(const Problem& problem, const runtime::Machine& machine,
              Arithmetic arithmetic = Arithmetic::accurate, const Batch& batch = {},
              bool prepared = false) noexcept;
    // For measurements: plan()'s candidates for one product, or for launching a batch at once, with
    // their times by the model alone. Returns how many there are.
    int candidates(const Problem& problem, const runtime::Machine& machine, Arithmetic arithmetic,
                   const Batch& batch, Candidate (&found)[kMostCandidates]) noexcept;
    // What to prepare of B for products of any m: the rung, and how many bytes it prepares; 0 where
    // products gain nothing by it.
    Plan plan_preparation(const Problem& problem, const runtime::Machine& machine,
                          Arithmetic arithmetic = Arithmetic::accurate) noexcept;
    // C += beta · source, behind a product whose rung cannot add it.
    void add_source(const Call& call, runtime::StreamView& stream) noexcept;)

}  // namespace warpladder::sgemm
