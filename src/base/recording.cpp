#include "base/recording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/whole_file.hpp"

namespace warpladder {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr int kMostLevels = 16;

[[noreturn]] void refuse(const std::string& where, const json& value, const char* must) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  throw_bad_input(
      fmt::format("{} is {}, but must be {}", where, in_quotes(text, kShownBytes), must));
}

// A member of an object, or null where it is absent.
const json* member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const json& array_at(const json& object, const char* key, const std::string& where) {
  static const json empty = json::array();
  const json* value = member(object, key);
  if (!value) return empty;
  if (!value->is_array()) refuse(where + "." + key, *value, "a list");
  return *value;
}

const json& require_object(const json& value, const std::string& where) {
  if (!value.is_object()) refuse(where, value, "an object");
  return value;
}

std::string text_at(const json& object, const char* key, const std::string& where) {
  const json* value = member(object, key);
  if (!value) return "";
  if (!value->is_string()) refuse(where + "." + key, *value, "a text");
  return printable(value->get_ref<const std::string&>());
}

bool flag_at(const json& object, const char* key, const std::string& where) {
  const json* value = member(object, key);
  if (!value) return false;
  if (!value->is_boolean()) refuse(where + "." + key, *value, "true or false");
  return value->get<bool>();
}

// JSON has no word for infinity: it is written as null.
double error_at(const json& object, const char* key, const std::string& where) {
  const auto value = object.find(key);
  if (value == object.end()) return 0;
  if (value->is_null()) return std::numeric_limits<double>::infinity();
  if (!value->is_number() || !(value->get<double>() >= 0)) {
    refuse(where + "." + key, *value, "a number of at least 0");
  }
  return value->get<double>();
}

double amount_at(const json& object, const char* key, const std::string& where) {
  return member(object, key) ? error_at(object, key, where) : 0;
}

std::uint64_t count_at(const json& object, const char* key, const std::string& where) {
  const json* value = member(object, key);
  if (!value) return 0;
  if (!value->is_number_unsigned()) refuse(where + "." + key, *value, "a whole number");
  return value->get<std::uint64_t>();
}

std::vector<double> samples_at(const json& object, const char* key, const std::string& where) {
  std::vector<double> samples;
  for (const json& value : array_at(object, key, where)) {
    const bool is_time = value.is_number() && value.get<double>() > 0;
    if (!is_time || !std::isfinite(value.get<double>())) {
      refuse(fmt::format("{}.{}[{}]", where, key, samples.size()), value, "a number above 0");
    }
    samples.push_back(value.get<double>());
  }
  return samples;
}

std::vector<std::int64_t> shape_at(const json& object, const std::string& where) {
  std::vector<std::int64_t> shape;
  for (const json& value : array_at(object, "shape", where)) {
    const bool fits = value.is_number_unsigned() &&
                      value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
    if (!fits) refuse(fmt::format("{}.shape[{}]", where, shape.size()), value, "a size");
    shape.push_back(value.get<std::int64_t>());
  }
  return shape;
}

RecordedClocks clocks_at(const json& row, const std::string& where) {
  const json* clocks = member(row, "sm_clock_mhz");
  if (!clocks) return {};
  const std::string name = where + ".sm_clock_mhz";
  const auto mhz = [&](const char* key) {
    const std::uint64_t value = count_at(require_object(*clocks, name), key, name);
    if (value > 1'000'000) refuse(name + "." + key, *member(*clocks, key), "a clock in MHz");
    return static_cast<int>(value);
  };
  return {mhz("least"), mhz("most")};
}

// A row of a program below benchmarks/: texts and whole numbers say what was timed.
RecordedRow parse_program_row(const json& row, const std::string& program,
                              const std::string& where) {
  RecordedRow parsed;
  parsed.op = program;
  parsed.names_variant = true;
  for (const auto& [key, value] : require_object(row, where).items()) {
    if (value.is_string()) {
      if (!parsed.rung.empty()) parsed.rung += ", ";
      parsed.rung += printable(value.get_ref<const std::string&>());
    } else if (value.is_number_integer()) {
      if (!parsed.variant.empty()) parsed.variant += ", ";
      parsed.variant += fmt::format("{} {}", printable(key), value.dump());
    }
  }
  parsed.samples_s = samples_at(row, "samples_s", where);
  parsed.flops = amount_at(row, "flops", where);
  parsed.clocks = clocks_at(row, where);
  return parsed;
}

RecordedVerdict parse_verdict(const json& row, const std::string& where) {
  RecordedVerdict verdict{text_at(row, "op", where),
                          text_at(row, "rung", where),
                          text_at(row, "flavour", where),
                          text_at(row, "skipped", where),
                          {}};
  for (const json& value : array_at(row, "cases", where)) {
    const std::string of_case = fmt::format("{}.cases[{}]", where, verdict.cases.size());
    require_object(value, of_case);
    verdict.cases.push_back({text_at(value, "name", of_case), text_at(value, "failure", of_case),
                             error_at(value, "worst_error_over_bound", of_case)});
  }
  return verdict;
}

RecordedAccuracy parse_accuracy(const json& row, const std::string& where) {
  RecordedAccuracy parsed{text_at(row, "rung", where),
                          text_at(row, "skipped", where),
                          flag_at(row, "rival", where),
                          {}};
  for (const json& value : array_at(row, "points", where)) {
    const std::string of_point = fmt::format("{}.points[{}]", where, parsed.points.size());
    require_object(value, of_point);
    parsed.points.push_back(
        {text_at(value, "distribution", of_point), text_at(value, "variant", of_point),
         text_at(value, "skipped", of_point), text_at(value, "failure", of_point),
         shape_at(value, of_point), error_at(value, "frobenius", of_point),
         error_at(value, "componentwise", of_point), count_at(value, "not_finite", of_point)});
  }
  return parsed;
}

// The program that wrote the report.
std::string program_of(const json& head, const std::string& name) {
  if (std::string program = text_at(head, "program", name); !program.empty()) return program;
  const json& argv = array_at(head, "argv", name);
  return argv.empty() || !argv[0].is_string() ? ""
                                              : printable(argv[0].get_ref<const std::string&>());
}

void parse_rows(Recording& recording, const json& rows, const std::string& name) {
  std::size_t number = 0;
  for (const json& row : rows) {
    const std::string where = fmt::format("{}: rows[{}]", name, number++);
    require_object(row, where);
    if (recording.verb == "verify") {
      recording.verdicts.push_back(parse_verdict(row, where));
    } else if (recording.verb == "accuracy") {
      recording.accuracy.push_back(parse_accuracy(row, where));
    } else if (row.contains("op") && row.contains("rung")) {
      recording.rows.push_back(parse_bench_row(row, where));
    } else if (row.contains("samples_s")) {
      recording.rows.push_back(parse_program_row(row, recording.verb, where));
    }
  }
}

// As a page may show it to anyone: of a path that leaves the working directory, the last component.
std::string public_name(const std::string& path) {
  const bool leaves = path.starts_with('/') || path.starts_with('~') || path.starts_with("../");
  return printable(leaves ? path.substr(path.find_last_of('/') + 1) : path);
}

}  // namespace

std::string printable(std::string_view text) {
  const std::string quoted = in_quotes(text);
  return quoted.substr(1, quoted.size() - 2);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

json parse_json(std::string_view text, std::string_view name) {
  const auto limit = [&](int depth, json::parse_event_t, json&) {
    if (depth <= kMostLevels) return true;
    throw_bad_input(fmt::format("{} nests more than {} levels", name, kMostLevels));
  };
  try {
    return json::parse(text.begin(), text.end(), limit);
  } catch (const json::parse_error& error) {
    const std::size_t at = std::min(error.byte, text.size());
    if (error.byte > text.size()) {
      throw_bad_input(fmt::format("{} ends within a value: it is cut short, or no JSON", name));
    }
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    throw_bad_input(fmt::format("{} is no JSON at line {}, byte {}", name, line, at));
  } catch (const json::exception&) {
    throw_bad_input(fmt::format("{} holds a number that is too large", name));
  }
}

RecordedRow parse_bench_row(const json& row, const std::string& where) {
  RecordedRow parsed;
  require_object(row, where);
  parsed.op = text_at(row, "op", where);
  parsed.rung = text_at(row, "rung", where);
  parsed.names_variant = row.contains("variant");
  parsed.variant = text_at(row, "variant", where);
  parsed.shape = shape_at(row, where);
  parsed.shape_class = text_at(row, "class", where);
  parsed.rival = flag_at(row, "rival", where);
  parsed.probe = flag_at(row, "probe", where);
  parsed.tensor_cores = flag_at(row, "tensor_cores", where);
  // Earlier versions did not record it. They had one such rival.
  parsed.less_accurate = row.contains("less_accurate")
                             ? flag_at(row, "less_accurate", where)
                             : parsed.rival && parsed.rung == "cublas_tf32";
  parsed.verified = flag_at(row, "verified", where);
  parsed.remark = text_at(row, "remark", where);
  parsed.skipped = text_at(row, "skipped", where);
  parsed.failure = text_at(row, "failure", where);
  parsed.invalid = text_at(row, "invalid", where);
  parsed.judged_in_part = text_at(row, "judged_in_part", where);
  parsed.worst_error_over_bound = error_at(row, "worst_error_over_bound", where);
  parsed.flops = amount_at(row, "flops", where);
  parsed.bytes = amount_at(row, "bytes", where);
  parsed.samples_s = samples_at(row, "samples_s", where);
  parsed.cold_samples_s = samples_at(row, "cold_samples_s", where);
  parsed.graph_samples_s = samples_at(row, "graph_samples_s", where);
  parsed.preparation_samples_s = samples_at(row, "preparation_samples_s", where);
  parsed.clocks = clocks_at(row, where);
  if (const json* counts = member(row, "counts")) {
    for (const auto& [key, value] : require_object(*counts, where + ".counts").items()) {
      parsed.counts[printable(key)] = count_at(*counts, key.c_str(), where + ".counts");
    }
  }
  return parsed;
}

std::string Recording::text(const std::vector<std::string>& path) const {
  const json* value = &head;
  for (const std::string& key : path) {
    if (!value->is_object() || !value->contains(key)) return "";
    value = &(*value)[key];
  }
  if (value->is_string()) return printable(value->get_ref<const std::string&>());
  if (value->is_number() || value->is_boolean()) return value->dump();
  return "";
}

bool Recording::has_samples() const {
  return std::ranges::any_of(rows, [](const RecordedRow& row) { return !row.samples_s.empty(); });
}

Recording parse_recording(std::string_view text, std::string_view name) {
  const std::string subject(name);
  json whole = parse_json(text, name);
  if (!whole.is_object()) throw_bad_input(subject + " holds no report: its JSON is no object");
  Recording recording;
  recording.name = subject;
  const json rows = array_at(whole, "rows", subject);
  whole.erase("rows");
  recording.head = std::move(whole);
  recording.verb = text_at(recording.head, "verb", subject);
  if (recording.verb.empty()) recording.verb = program_of(recording.head, subject);
  const json* version = member(recording.head, "schema_version");
  // A program that is not the workbench's may have rows of its own form.
  if (!version && member(recording.head, "program")) return recording;
  if (!version && !rows.empty()) throw_bad_input(subject + " holds rows, but no schema_version");
  if (version && *version != 1) {
    refuse(subject + ": schema_version", *version, "1, the only one that this program reads");
  }
  parse_rows(recording, rows, subject);
  return recording;
}

Recording read_recording(const std::string& path, std::string_view argument) {
  const std::string subject = file_subject(path, argument);
  Recording recording = parse_recording(read_whole_file(path, subject, kMostBytes), subject);
  recording.name = public_name(path);
  return recording;
}

}  // namespace warpladder
