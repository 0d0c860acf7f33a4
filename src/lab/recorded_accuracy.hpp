#pragma once
// An earlier report of `accuracy`, to be printed and drawn again.

#include <string>
#include <vector>

#include "base/recording.hpp"
#include "lab/accuracy.hpp"

namespace warpladder::lab {

// The rungs that `names` gives, OP or OP/RUNG, and the rival. Throws Error(bad_input) for a
// recording of something else, and for a rung or a distribution that it does not hold.
AccuracyReport accuracy_of(const Recording& recording, const std::vector<std::string>& names,
                           const std::vector<std::string>& distributions);

// The names of its distributions, in its order.
std::vector<std::string> distributions_in(const Recording& recording);

}  // namespace warpladder::lab
