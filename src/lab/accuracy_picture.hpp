#pragma once

#include <string>

#include "lab/accuracy.hpp"

namespace warpladder::lab {

// Errors against the last size, k of a product: a row of two panels, one for each measure, for each
// of groups_of(report), a line for each rung and a broad one for the rival, both axes logarithmic.
// One self-contained file in colours that follow the reader's choice of light or dark; the same
// report gives the same bytes.
std::string svg(const AccuracyReport& report);

}  // namespace warpladder::lab
