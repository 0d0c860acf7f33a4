#include "lab/bench_rows.hpp"

#include <algorithm>

#include "lab/explain.hpp"

namespace warpladder::lab {

nlohmann::json as_json(const Statistics& s) {
  // An interval without bounds is null.
  return {{"median", s.median}, {"q1", s.q1}, {"q3", s.q3}, {"low", s.low}, {"high", s.high}};
}

nlohmann::json as_json(const BenchRow& row) {
  nlohmann::json object{{"op", row.op},
                        {"variant", row.variant},
                        {"rung", row.rung},
                        {"rival", row.rival},
                        {"probe", row.probe},
                        {"tensor_cores", row.tensor_cores},
                        {"less_accurate", row.less_accurate},
                        {"shape", row.shape},
                        {"skipped", row.skipped},
                        {"failure", row.failure},
                        {"invalid", row.invalid},
                        {"verified", row.verified},
                        {"judged_in_part", row.judged_in_part},
                        {"worst_error_over_bound", row.worst_error_over_bound},
                        {"flops", row.flops},
                        {"bytes", row.bytes},
                        {"samples_s", row.samples_s}};
  if (!row.remark.empty()) object["remark"] = row.remark;
  if (!row.shape_class.empty()) object["class"] = row.shape_class;
  if (!row.preparation_samples_s.empty()) {
    object["preparation_samples_s"] = row.preparation_samples_s;
    object["preparation_statistics_s"] = as_json(statistics(row.preparation_samples_s));
  }
  if (row.counts) {
    for (const TotalField& field : total_fields()) {
      object["counts"][field.key] = (*row.counts).*field.value;
    }
  }
  if (!row.samples_s.empty()) object["statistics_s"] = as_json(statistics(row.samples_s));
  if (!row.cold_samples_s.empty()) {
    object["cold_samples_s"] = row.cold_samples_s;
    object["cold_statistics_s"] = as_json(statistics(row.cold_samples_s));
  }
  if (!row.graph_samples_s.empty()) {
    object["graph_samples_s"] = row.graph_samples_s;
    object["graph_statistics_s"] = as_json(statistics(row.graph_samples_s));
  }
  if (row.clocks.most_mhz) {
    object["sm_clock_mhz"] = {{"least", row.clocks.least_mhz}, {"most", row.clocks.most_mhz}};
  }
  return object;
}

BenchRow bench_row_of(const RecordedRow& recorded) {
  BenchRow row;
  row.op = recorded.op;
  row.rung = recorded.rung;
  row.variant = recorded.variant;
  row.shape = recorded.shape;
  row.shape_class = recorded.shape_class;
  row.rival = recorded.rival;
  row.probe = recorded.probe;
  row.tensor_cores = recorded.tensor_cores;
  row.less_accurate = recorded.less_accurate;
  row.remark = recorded.remark;
  row.skipped = recorded.skipped;
  row.failure = recorded.failure;
  row.invalid = recorded.invalid;
  row.verified = recorded.verified;
  row.worst_error_over_bound = recorded.worst_error_over_bound;
  row.judged_in_part = recorded.judged_in_part;
  if (!recorded.counts.empty()) {
    ladder::Totals& totals = row.counts.emplace();
    for (const TotalField& field : total_fields()) {
      const auto count = recorded.counts.find(field.key);
      if (count != recorded.counts.end()) totals.*field.value = count->second;
    }
  }
  row.samples_s = recorded.samples_s;
  row.cold_samples_s = recorded.cold_samples_s;
  row.graph_samples_s = recorded.graph_samples_s;
  row.preparation_samples_s = recorded.preparation_samples_s;
  row.clocks = {recorded.clocks.least_mhz, recorded.clocks.most_mhz};
  row.flops = recorded.flops;
  row.bytes = recorded.bytes;
  const auto& operators = ops::all_operators();
  const auto op = std::ranges::find(operators, row.op, [](const auto& o) { return o->name(); });
  row.measure = op != operators.end() ? (*op)->measure()
                : row.flops > 0       ? ops::Measure::flops
                                      : ops::Measure::bytes;
  return row;
}

}  // namespace warpladder::lab
