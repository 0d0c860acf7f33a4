#pragma once

#include <string>

#include "lab/shapes_view.hpp"

namespace warpladder::lab {

// The speed-up over the rival against operations a byte, both logarithmic, for one contestant at
// each shape of one operator: a picture that stands alone, with a colour for each class. `id` tells
// it from others in one page.
std::string svg(const ContestantView& view, const std::string& op, const std::string& id = "");

}  // namespace warpladder::lab
