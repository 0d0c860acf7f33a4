#pragma once
// Reports of earlier runs, read back from their JSON: samples of bench and of the programs below
// benchmarks/, verdicts of verify, errors of accuracy. The files may be old, truncated or hostile.
// Errors are one sentence that begins with the argument (may be empty) and the file.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder {

struct RecordedClocks {
  int least_mhz = 0, most_mhz = 0;  // 0: not recorded
};

// One rung or rival at one problem. All texts are printable, whatever the file held.
struct RecordedRow {
  std::string op, rung, variant;
  std::vector<std::int64_t> shape;
  std::string shape_class;
  bool names_variant = false;  // the first recordings of bench did not
  bool rival = false, probe = false, tensor_cores = false, less_accurate = false;
  bool verified = false;
  std::string remark, skipped, failure, invalid, judged_in_part;
  double worst_error_over_bound = 0;  // infinity where the file holds null
  double flops = 0, bytes = 0;        // 0: not recorded
  std::vector<double> samples_s, cold_samples_s, graph_samples_s, preparation_samples_s;
  std::map<std::string, std::uint64_t> counts;
  RecordedClocks clocks;
};

struct RecordedCase {
  std::string name, failure;
  double worst_error_over_bound = 0;
};

// One rung in a report of verify.
struct RecordedVerdict {
  std::string op, rung, flavour, skipped;
  std::vector<RecordedCase> cases;
};

// One problem in a report of accuracy. Errors are infinite where the file holds null.
struct RecordedErrors {
  std::string distribution, variant, skipped, failure;
  std::vector<std::int64_t> shape;
  double frobenius = 0, componentwise = 0;
  std::uint64_t not_finite = 0;
};

struct RecordedAccuracy {
  std::string rung, skipped;
  bool rival = false;
  std::vector<RecordedErrors> points;
};

struct Recording {
  std::string name;     // of the file, printable, and without folders outside the working directory
  std::string verb;     // bench, verify, accuracy, or the program's name
  nlohmann::json head;  // all but the rows; an object
  std::vector<RecordedRow> rows;
  std::vector<RecordedVerdict> verdicts;
  std::vector<RecordedAccuracy> accuracy;

  // The text of head[path[0]][path[1]]…; empty where there is none.
  std::string text(const std::vector<std::string>& path) const;
  bool has_samples() const;
};

// Throws Error(bad_input) for a file that is no report.
Recording read_recording(const std::string& path, std::string_view argument = {});
// The same from memory; `name` begins the sentences.
Recording parse_recording(std::string_view text, std::string_view name);

// One row of a report of bench; `where` names it in sentences.
RecordedRow parse_bench_row(const nlohmann::json& row, const std::string& where);

// A whole JSON value that nests little enough for recursive functions.
nlohmann::json parse_json(std::string_view text, std::string_view name);

// Control characters, and bytes that are no UTF-8, become \xNN.
std::string printable(std::string_view text);

// The samples of a row, by what they timed.
struct SampleKind {
  const char* name;
  std::vector<double> RecordedRow::*samples;
};
inline constexpr SampleKind kSampleKinds[] = {
    {"hot", &RecordedRow::samples_s},
    {"cold", &RecordedRow::cold_samples_s},
    {"graph", &RecordedRow::graph_samples_s},
    {"preparation", &RecordedRow::preparation_samples_s},
};

// 64x32x16, or empty.
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace warpladder
