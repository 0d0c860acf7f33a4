#pragma once
// The tables of accuracy, one per distribution and measure, and the remarks below them.

#include <string>
#include <vector>

#include "base/text_table.hpp"
#include "lab/accuracy.hpp"

namespace warpladder::app {

// Tables under one title. A box of many sizes would be too wide, so it is split.
struct AccuracySection {
  std::string title;
  std::vector<TextTable> tables;
};
std::vector<AccuracySection> sections_of(const lab::AccuracyReport& report);

// Skipped rungs, faults, and results that are no numbers: one line each.
std::vector<std::string> remarks_on(const lab::AccuracyReport& report);

// Explains the numbers.
std::string notes_on(const lab::AccuracyReport& report);

// The largest ratios at each shape, one line each.
TextTable table_of(const std::vector<lab::ShapeErrors>& shapes, const lab::AccuracyReport& report);
TextTable table_of(const std::vector<lab::Excess>& excesses, const lab::AccuracyReport& report);

}  // namespace warpladder::app
