#pragma once
// The figures of a report, as SVG within its page. Their colours are classes of the page.

#include <string>
#include <vector>

#include "lab/html.hpp"
#include "lab/report.hpp"

namespace warpladder::lab {

// A bar for each rung and rival of a problem. There is a figure for each operator and variant with
// at least three rungs at a problem, the largest problem first. On the CPU side bars are the
// executor's counts.
std::vector<Choice> climbs_of(const Report& report);
// For each chip whose ceilings are known.
std::vector<Figure> rooflines_of(const Report& report);
// For each recording of accuracy, its distributions: the error against the last size.
std::vector<Choice> accuracy_of(const Report& report);

}  // namespace warpladder::lab
