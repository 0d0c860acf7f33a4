#pragma once

#include <memory>

#include "device/device.hpp"
#include "ops/lab/accuracy.hpp"

namespace warpladder::sgemm {

// Draws the operands, puts them on the target and computes the truth. Of a product of more than
// some 5e9 multiply-adds judged_rows() are measured, else all of C.
std::unique_ptr<ops::AccuracyTrial> make_accuracy_trial(const ops::AccuracyProblem& problem,
                                                        runtime::Target target);

}  // namespace warpladder::sgemm
