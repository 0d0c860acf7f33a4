#pragma once
// A case's operands on a target, launched on and judged.

#include <memory>

#include "ops/lab/operator.hpp"
#include "ops/sgemm/lab/cases.hpp"

namespace warpladder::sgemm {

// Every element of C, or of a large product every element of judged_rows(), is judged.
std::unique_ptr<ops::Trial> make_trial(const GemmCase& c, runtime::Target target);

// For timing many shapes, large ones too: no host operands and no costly truth. The operands are
// made where they lie, 32 to 1,024 elements of C are judged, and all others for being numbers. The
// case's filling is uniform, and its beta is 0.
std::unique_ptr<ops::Trial> make_sampled_trial(const GemmCase& c, runtime::Target target);

}  // namespace warpladder::sgemm
