#pragma once

#include <string>

#include "lab/shapes_view.hpp"

namespace warpladder::lab {

// The speed-up over the rival against operations per byte, on logarithmic axes, for one contestant
// at each shape of an operator. A self-contained picture with a colour per class. `id` is unique
// within a page.
std::string svg(const ContestantView& view, const std::string& op, const std::string& id = "");

}  // namespace warpladder::lab
