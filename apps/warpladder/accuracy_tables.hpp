#pragma once
// What accuracy prints: for each distribution a table of each measure, and what they leave out.

#include <string>
#include <vector>

#include "base/text_table.hpp"
#include "lab/accuracy.hpp"

namespace warpladder::app {

// Tables that stand under one title; a box of many sizes would be too wide, and becomes several.
struct AccuracySection {
  std::string title;
  std::vector<TextTable> tables;
};
std::vector<AccuracySection> sections_of(const lab::AccuracyReport& report);

// Rungs that did not run, faults, and results that are no numbers: a line each.
std::vector<std::string> remarks_on(const lab::AccuracyReport& report);

// What the numbers mean.
std::string notes_on(const lab::AccuracyReport& report);

// The largest ratios at each shape, a line each.
TextTable table_of(const std::vector<lab::ShapeErrors>& shapes, const lab::AccuracyReport& report);
TextTable table_of(const std::vector<lab::Excess>& excesses, const lab::AccuracyReport& report);

}  // namespace warpladder::app
