#include "lab/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "lab/bench_rows.hpp"

namespace warpladder::lab {
namespace {

double number_at(const nlohmann::json& head, const char* object, const char* key) {
  const auto found = head.find(object);
  if (found == head.end() || !found->is_object() || !found->contains(key)) return 0;
  const nlohmann::json& value = (*found)[key];
  return value.is_number() ? value.get<double>() : 0;
}

ReportedBench bench_of(const Recording& recording, std::size_t place) {
  ReportedBench bench;
  bench.recording = place;
  bench.on_gpu =
      recording.text({"target"}) != "cpu" && !recording.text({"device", "gpu", "GPU"}).empty();
  bench.chip = bench.on_gpu ? recording.text({"device", "gpu", "GPU"}) : recording.text({"cpu"});
  device::Ceilings& ceilings = bench.report.ceilings;
  if (bench.on_gpu) {
    ceilings.fp32_flops_per_s = number_at(recording.head, "ceilings", "fp32_flops_per_s");
    ceilings.memory_bytes_per_s = number_at(recording.head, "ceilings", "memory_bytes_per_s");
    ceilings.tensor_flops_per_s = number_at(recording.head, "ceilings", "tensor_flops_per_s");
  }
  std::map<std::tuple<std::string, std::string, std::vector<std::int64_t>>, std::size_t> groups;
  for (const RecordedRow& recorded : recording.rows) {
    BenchRow& row = bench.report.rows.emplace_back(bench_row_of(recorded));
    row.group = groups.try_emplace({row.op, row.variant, row.shape}, groups.size()).first->second;
  }
  // The rows of a group follow each other, as bench has them.
  std::ranges::stable_sort(bench.report.rows, {}, &BenchRow::group);
  return bench;
}

bool is_opponent(const BenchRow& row) {
  return row.rival && !row.probe && !row.less_accurate && !row.samples_s.empty() &&
         row.invalid.empty();
}

}  // namespace

Report report_of(std::vector<Recording> recordings) {
  Report report{std::move(recordings), {}};
  for (std::size_t i = 0; i < report.recordings.size(); ++i) {
    if (!report.recordings[i].rows.empty()) {
      report.benches.push_back(bench_of(report.recordings[i], i));
    }
  }
  return report;
}

std::string label_of(std::size_t recording) { return fmt::format("R{}", recording + 1); }

const std::vector<double>& counting_samples(const BenchRow& row) {
  const bool computes = row.measure == ops::Measure::flops;
  return computes || row.cold_samples_s.empty() ? row.samples_s : row.cold_samples_s;
}

double rate_of(const BenchRow& row) {
  const std::vector<double>& samples = counting_samples(row);
  if (samples.empty()) return 0;
  return (row.measure == ops::Measure::flops ? row.flops : row.bytes) / statistics(samples).median;
}

std::string rate_text(const BenchRow& row) {
  const double rate = rate_of(row);
  const char* const unit = row.measure == ops::Measure::flops ? "FLOP/s" : "B/s";
  if (!(rate > 0)) return "";
  if (rate < 1e12) return fmt::format("{:.3g} G{}", rate * 1e-9, unit);
  return fmt::format("{:.3g} T{}", rate * 1e-12, unit);
}

double speedup_of(const BenchRow& row, const BenchReport& report) {
  if (row.samples_s.empty()) return 0;
  double fastest = 0;
  const auto group = std::ranges::equal_range(report.rows, row.group, {}, &BenchRow::group);
  for (const BenchRow& other : group) {
    if (!is_opponent(other)) continue;
    const double median = statistics(other.samples_s).median;
    if (fastest == 0 || median < fastest) fastest = median;
  }
  return fastest / statistics(row.samples_s).median;
}

}  // namespace warpladder::lab
