#pragma once

#include <string>

#include "lab/accuracy.hpp"

namespace warpladder::lab {

// Errors against the last size (k of a product), on logarithmic axes. Each of groups_of(report) has
// a row of two panels, one per measure, with a line per rung and a broad one for the rival. The
// file is self-contained and follows the reader's choice of light or dark. The same report gives
// the same bytes.
std::string svg(const AccuracyReport& report);

}  // namespace warpladder::lab
