#pragma once
// The figures of a report, as SVG within its page. Their colours are classes of the page.

#include <string>
#include <vector>

#include "lab/report.hpp"

namespace warpladder::lab {

// A figure, and what stands below it.
struct Figure {
  std::string svg, caption;
};
// Figures of which the page shows one at a time.
struct Choice {
  std::string title;
  std::vector<std::string> names;
  std::vector<Figure> figures;
};

// A bar for each rung and rival of a problem; for each operator and variant with at least three
// rungs at a problem, the largest problem first. On the CPU side bars are the executor's counts.
std::vector<Choice> climbs_of(const Report& report);
// For each chip whose ceilings are known.
std::vector<Figure> rooflines_of(const Report& report);
// For each recording of accuracy, its distributions: the error against the last size.
std::vector<Choice> accuracy_of(const Report& report);

}  // namespace warpladder::lab
