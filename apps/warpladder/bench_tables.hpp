#pragma once
// The tables of bench, one or two per problem, and the remarks below them.

#include <cstdint>
#include <string>
#include <vector>

#include "base/text_table.hpp"
#include "lab/bench.hpp"

namespace warpladder::app {

// A table, its introduction (either may be empty) and the lines below it.
struct Section {
  std::string title, remark;
  TextTable table;
  std::vector<std::string> lines_below;
};
std::vector<Section> sections_of(const lab::BenchReport& report, runtime::Target target);

// Rows that the tables leave out, and why: one line each.
std::vector<std::string> remarks_on(const std::vector<lab::BenchRow>& rows);
// Explains the times, and names the libraries.
std::string notes_on(const lab::BenchReport& report, runtime::Target target, unsigned threads);

// The samples' median, with as many digits as they support.
std::string median_text(const std::vector<double>& samples_s);
std::string shape_text(const lab::BenchRow& row);
std::uint64_t global_sectors(const ladder::Totals& totals);
std::uint64_t shared_wavefronts(const ladder::Totals& totals);

}  // namespace warpladder::app
