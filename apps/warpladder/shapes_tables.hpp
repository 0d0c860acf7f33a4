#pragma once
// The tables of many shapes: one of classes, and one of the slowest shapes per contestant.

#include <string>
#include <vector>

#include "bench_tables.hpp"
#include "lab/shapes_view.hpp"

namespace warpladder::app {

std::vector<Section> sections_of(const std::vector<lab::ContestantView>& views,
                                 const std::string& op);
// Rows that the tables leave out, and why.
std::vector<std::string> remarks_on_shapes(const lab::BenchReport& report,
                                           const std::vector<lab::ContestantView>& views);
// Explains the ratios, and names the libraries.
std::string notes_on_shapes(const lab::BenchReport& report, runtime::Target target);

}  // namespace warpladder::app
