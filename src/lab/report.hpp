#pragma once
// Recordings as one page: climbs, every shape beside its rival, the roofline, accuracy, verdicts,
// all rows in sortable tables, and where everything comes from.

#include <cstddef>
#include <string>
#include <vector>

#include "base/recording.hpp"
#include "lab/bench.hpp"

namespace warpladder::lab {

// One recording of bench as bench itself had it.
struct ReportedBench {
  std::size_t recording = 0;  // of Report::recordings
  BenchReport report;         // its rows' groups are numbered by problem
  bool on_gpu = false;
  std::string chip;
};

struct Report {
  std::vector<Recording> recordings;
  std::vector<ReportedBench> benches;
};
Report report_of(std::vector<Recording> recordings);

// R1 for the first recording, as all sections call it.
std::string label_of(std::size_t recording);

// What the row's rate is made from: a GPU's rows that move bytes count cold, all others hot.
const std::vector<double>& counting_samples(const BenchRow& row);
// Operations or bytes per second; 0 where there is no time.
double rate_of(const BenchRow& row);
// The rate with its unit: 57.6 TFLOP/s, 3.1 TB/s.
std::string rate_text(const BenchRow& row);
// The fastest rival's time over the row's, with hot caches; 0 where there is none.
double speedup_of(const BenchRow& row, const BenchReport& report);

// The page: complete, without anything from elsewhere, the same bytes for the same recordings.
std::string html(const Report& report);

}  // namespace warpladder::lab
