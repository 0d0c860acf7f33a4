#include "lab/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace warpladder::lab {
namespace {

// Clocks that differ by less than this are one clock.
constexpr double kSameClock = 0.01;

// A recording that names no variants has one of each shape and rung.
using Key = std::tuple<std::string, std::string, std::vector<std::int64_t>, std::string>;
Key key_of(const RecordedRow& row, bool with_variant) {
  return {row.op, row.rung, row.shape, with_variant ? row.variant : ""};
}

using Index = std::map<Key, std::vector<const RecordedRow*>>;
Index index_of(const Recording& recording, bool with_variant) {
  Index index;
  for (const RecordedRow& row : recording.rows) index[key_of(row, with_variant)].push_back(&row);
  return index;
}

bool names_variants(const Recording& recording) {
  return std::ranges::all_of(recording.rows, &RecordedRow::names_variant);
}

bool is_timed(const RecordedRow& row) {
  return row.failure.empty() && row.invalid.empty() && !row.samples_s.empty();
}

std::string why_not_timed(const RecordedRow& row, const char* which) {
  if (!row.failure.empty()) return fmt::format("wrong in {}: {}", which, row.failure);
  if (!row.invalid.empty()) return fmt::format("invalid in {}: {}", which, row.invalid);
  if (!row.skipped.empty()) return fmt::format("skipped in {}: {}", which, row.skipped);
  return fmt::format("{} holds no samples of it", which);
}

std::string clocks_text(const RecordedClocks& clocks) {
  if (clocks.least_mhz == clocks.most_mhz) return fmt::format("{}", clocks.most_mhz);
  return fmt::format("{} to {}", clocks.least_mhz, clocks.most_mhz);
}

bool clocks_differ(const RecordedClocks& a, const RecordedClocks& b) {
  if (a.most_mhz == 0 || b.most_mhz == 0) return false;
  const auto differ = [](int x, int y) { return std::abs(x - y) > kSameClock * std::max(x, y); };
  return differ(a.least_mhz, b.least_mhz) || differ(a.most_mhz, b.most_mhz);
}

std::string remark_on(const RecordedRow& old_row, const RecordedRow& new_row,
                      const SampleKind& kind) {
  std::string remark;
  const std::size_t fewest =
      std::min((old_row.*kind.samples).size(), (new_row.*kind.samples).size());
  if (fewest < Ratio::kLeastSamples) {
    remark = fmt::format("{} {}, an interval takes {}", fewest, fewest == 1 ? "sample" : "samples",
                         Ratio::kLeastSamples);
  }
  if (clocks_differ(old_row.clocks, new_row.clocks)) {
    remark += fmt::format("{}SM clock {} → {} MHz", remark.empty() ? "" : "; ",
                          clocks_text(old_row.clocks), clocks_text(new_row.clocks));
  }
  return remark;
}

void compare_rows(Comparison& comparison, const RecordedRow& old_row, const RecordedRow& new_row,
                  double threshold) {
  for (const SampleKind& kind : kSampleKinds) {
    const std::vector<double>&before = old_row.*kind.samples, &after = new_row.*kind.samples;
    if (before.empty() || after.empty()) continue;
    Compared compared{&old_row, &new_row, &kind, ratio_of_medians(after, before), {}, {}};
    compared.change = change_of(compared.ratio, threshold);
    compared.remark = remark_on(old_row, new_row, kind);
    comparison.rows.push_back(std::move(compared));
  }
}

// Compares one row of both recordings.
void pair_rows(Comparison& comparison, const std::vector<const RecordedRow*>& before,
               const std::vector<const RecordedRow*>& after, double threshold) {
  if (before.size() > 1 || after.size() > 1) {
    const bool in_old = before.size() > 1;
    comparison.not_compared.push_back(
        {before[0],
         fmt::format("{} has {} rows of it, which cannot be told apart", in_old ? "OLD" : "NEW",
                     in_old ? before.size() : after.size()),
         true});
  } else if (!is_timed(*after[0])) {
    comparison.not_compared.push_back(
        {after[0], why_not_timed(*after[0], "NEW"), is_timed(*before[0])});
  } else if (!is_timed(*before[0])) {
    comparison.not_compared.push_back({before[0], why_not_timed(*before[0], "OLD")});
  } else {
    compare_rows(comparison, *before[0], *after[0], threshold);
  }
}

struct Field {
  const char* what;
  std::vector<std::string> path;
};

// Facts of the target and of the host.
std::vector<Field> fields_of(const Recording& a, const Recording& b) {
  std::vector<Field> fields{{"command", {"target"}},
                            {"command", {"threads"}},
                            {"versions", {"commit"}},
                            {"versions", {"build_type"}},
                            {"versions", {"os"}},
                            {"versions", {"compiler", "name"}},
                            {"versions", {"compiler", "version"}},
                            {"machine", {"cpu"}},
                            {"machine", {"cores"}}};
  std::set<std::string> libraries, facts;
  for (const Recording* recording : {&a, &b}) {
    const auto collect = [](const nlohmann::json& object, std::set<std::string>& names) {
      if (!object.is_object()) return;
      for (const auto& [key, value] : object.items()) names.insert(key);
    };
    const nlohmann::json& head = recording->head;
    if (head.contains("libraries")) collect(head["libraries"], libraries);
    const bool has_gpu = head.contains("device") && head["device"].is_object() &&
                         head["device"].contains("gpu") && recording->text({"target"}) != "cpu";
    if (has_gpu) collect(head["device"]["gpu"], facts);
  }
  for (const std::string& library : libraries)
    fields.push_back({"versions", {"libraries", library}});
  for (const std::string& fact : facts) {
    const bool is_version = fact == "CUDA runtime" || fact.starts_with("driver");
    const bool is_clock = fact.find("clock") != fact.npos;
    fields.push_back({is_clock     ? "clocks"
                      : is_version ? "versions"
                                   : "machine",
                      {"device", "gpu", fact}});
  }
  return fields;
}

// The arguments without the command's output files.
std::string command_of(const Recording& recording) {
  static const std::set<std::string> outputs{"--json", "--csv", "--md", "--svg", "--budget"};
  const auto argv = recording.head.find("argv");
  if (argv == recording.head.end() || !argv->is_array()) return "";
  std::string command;
  for (std::size_t i = 0; i < argv->size(); ++i) {
    if (!(*argv)[i].is_string()) continue;
    const std::string word = printable((*argv)[i].get_ref<const std::string&>());
    const std::string flag = word.substr(0, word.find('='));
    if (outputs.contains(flag)) {
      i += flag == word;
    } else if (word != "--resume") {
      command += (command.empty() ? "" : " ") + word;
    }
  }
  return command;
}

void compare_heads(Comparison& comparison, const Recording& before, const Recording& after) {
  std::vector<std::string> lacks_old, lacks_new;
  for (const Field& field : fields_of(before, after)) {
    const std::string old_value = before.text(field.path), new_value = after.text(field.path);
    if (old_value == new_value) continue;
    const std::string name =
        printable(field.path[0] == "compiler" ? "compiler's " + field.path[1] : field.path.back());
    if (old_value.empty()) lacks_old.push_back(name);
    if (new_value.empty()) lacks_new.push_back(name);
    if (old_value.empty() || new_value.empty()) continue;
    comparison.differences.push_back({field.what, name, old_value, new_value});
  }
  const std::string old_command = command_of(before), new_command = command_of(after);
  if (old_command != new_command) {
    comparison.differences.push_back({"command", "command", old_command, new_command});
  }
  if (!names_variants(before)) lacks_old.push_back("variant");
  if (!names_variants(after)) lacks_new.push_back("variant");
  const auto tell = [&](const char* which, const std::vector<std::string>& names) {
    if (names.empty()) return;
    comparison.lacks.push_back(
        fmt::format("{} does not record: {}.", which, fmt::join(names, ", ")));
  };
  tell("OLD", lacks_old);
  tell("NEW", lacks_new);
}

void widen(RecordedClocks& all, const RecordedClocks& row) {
  all.least_mhz = all.least_mhz ? std::min(all.least_mhz, row.least_mhz) : row.least_mhz;
  all.most_mhz = std::max(all.most_mhz, row.most_mhz);
}

// The clocks at which rows were timed, where they differ.
void compare_clocks(Comparison& comparison) {
  RecordedClocks before, after;
  std::size_t count = 0;
  for (const Compared& row : comparison.rows) {
    if (!clocks_differ(row.old_row->clocks, row.new_row->clocks)) continue;
    ++count;
    widen(before, row.old_row->clocks);
    widen(after, row.new_row->clocks);
  }
  if (count == 0) return;
  comparison.differences.push_back(
      {"clocks", fmt::format("SM clock while timed, {} of {} rows", count, comparison.rows.size()),
       clocks_text(before) + " MHz", clocks_text(after) + " MHz"});
}

}  // namespace

const char* name(Change change) {
  switch (change) {
    case Change::slow:
      return "SLOW";
    case Change::unsure:
      return "UNSURE";
    case Change::fast:
      return "FAST";
    case Change::same:
      break;
  }
  return "SAME";
}

Change change_of(const Ratio& ratio, double threshold) {
  const double slow = 1 + threshold, fast = 1 / slow;
  if (ratio.low > slow) return Change::slow;
  if (ratio.high < fast) return Change::fast;
  return ratio.low >= fast && ratio.high <= slow ? Change::same : Change::unsure;
}

std::size_t Comparison::count(Change change) const {
  return static_cast<std::size_t>(std::ranges::count(rows, change, &Compared::change));
}

std::size_t Comparison::missing() const {
  return static_cast<std::size_t>(std::ranges::count(not_compared, true, &NotCompared::missing));
}

bool Comparison::differs_in(const std::string& what) const {
  return std::ranges::find(differences, what, &Difference::what) != differences.end();
}

Comparison compare(const Recording& old_recording, const Recording& new_recording,
                   double threshold) {
  Comparison comparison;
  compare_heads(comparison, old_recording, new_recording);
  const bool with_variant = names_variants(old_recording) && names_variants(new_recording);
  const Index before = index_of(old_recording, with_variant),
              after = index_of(new_recording, with_variant);
  for (const auto& [key, rows] : before) {
    const auto found = after.find(key);
    if (found != after.end()) {
      pair_rows(comparison, rows, found->second, threshold);
    } else {
      comparison.not_compared.push_back({rows[0], "NEW does not have it", is_timed(*rows[0])});
    }
  }
  for (const auto& [key, rows] : after) {
    if (!before.contains(key)) comparison.not_compared.push_back({rows[0], "OLD does not have it"});
  }
  compare_clocks(comparison);
  std::ranges::stable_sort(comparison.rows, [](const Compared& a, const Compared& b) {
    return std::tuple(a.change, -a.ratio.value) < std::tuple(b.change, -b.ratio.value);
  });
  return comparison;
}

std::string title_of(const RecordedRow& row) {
  std::string title = row.op + "/" + row.rung;
  for (const std::string& part : {row.variant, shape_text(row.shape)}) {
    if (!part.empty()) title += " " + part;
  }
  return title;
}

}  // namespace warpladder::lab
