#pragma once
// One page of recordings: climbs, every shape beside its rival, the roofline, accuracy, verdicts,
// sortable tables of all rows, and provenance.

#include <cstddef>
#include <string>
#include <vector>

#include "base/recording.hpp"
#include "lab/bench.hpp"

namespace warpladder::lab {

// A recording of bench, as the report of the run was.
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

// The median that the row's rate uses: cold for a GPU's rows that only move bytes, else hot.
const std::vector<double>& counting_samples(const BenchRow& row);
// Operations or bytes per second; 0 without a time.
double rate_of(const BenchRow& row);
// The rate with its unit: 57.6 TFLOP/s, 3.1 TB/s.
std::string rate_text(const BenchRow& row);
// The fastest rival's time over the row's, with hot caches; 0 without a rival.
double speedup_of(const BenchRow& row, const BenchReport& report);

// The page, self-contained; the same recordings give the same bytes.
std::string html(const Report& report);

}  // namespace warpladder::lab
