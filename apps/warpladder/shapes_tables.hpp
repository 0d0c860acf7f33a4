#pragma once
// What bench prints of many shapes: a table of classes and one of the slowest shapes for each
// contestant.

#include <string>
#include <vector>

#include "bench_tables.hpp"
#include "lab/shapes_view.hpp"

namespace warpladder::app {

std::vector<Section> sections_of(const std::vector<lab::ContestantView>& views,
                                 const std::string& op);
// What is missing, and why.
std::vector<std::string> remarks_on_shapes(const lab::BenchReport& report,
                                           const std::vector<lab::ContestantView>& views);
// What the ratios mean, and what the times were taken with.
std::string notes_on_shapes(const lab::BenchReport& report, runtime::Target target);

}  // namespace warpladder::app
