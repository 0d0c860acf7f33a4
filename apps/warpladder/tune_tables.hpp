#pragma once
// What `tune` prints.

#include <string>
#include <vector>

#include "base/text_table.hpp"
#include "lab/tune.hpp"

namespace warpladder::app {

// A row for each problem: the fastest configuration beside today's, and what became of the others.
TextTable table_of(const lab::TuneRequest& request, const lab::TuneReport& report);
// A line for each configuration of each problem, as comma-separated values.
std::string csv_of(const lab::TuneRequest& request, const lab::TuneReport& report);
// A sentence for each configuration whose result is wrong, each problem that was not tuned, and
// what the budget did not last for. Then what the model and early stops saved.
std::vector<std::string> notes_on(const lab::TuneRequest& request, const lab::TuneReport& report);

}  // namespace warpladder::app
