#include "base/ncu_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/recording.hpp"
#include "base/whole_file.hpp"

namespace warpladder {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

using Fields = std::vector<std::string>;

// Records of CSV: fields in quotes may hold commas, doubled quotes and ends of lines.
class Records {
 public:
  explicit Records(std::string_view text) : text_(text) {}

  // False at the end. `line` is where the record began. Outside a table, where programs print what
  // they like, a record is a line.
  bool next(Fields& fields, std::size_t& line, bool in_table) {
    if (at_ >= text_.size()) return false;
    fields.assign(1, "");
    line = line_;
    bool quoted = false;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      line_ += c == '\n';
      if (quoted && (in_table || c != '\n')) {
        quoted = c != '"' || take('"');
        if (quoted) fields.back() += c;
      } else if (c == '"' && fields.back().empty()) {
        quoted = true;
      } else if (c == ',') {
        fields.emplace_back();
      } else if (c == '\n') {
        break;
      } else if (c != '\r') {
        fields.back() += c;
      }
    }
    is_open_ = quoted;
    return true;
  }
  bool is_open() const { return is_open_; }  // the last record ended within quotes

 private:
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
  bool is_open_ = false;
};

// 14,688 as 14688: commas count where they part groups of three digits. Where one follows a point,
// the number is another language's, such as 14.688,5, and stays as it is.
std::string without_commas(const std::string& text) {
  const std::size_t end = std::min(text.find('.'), text.size());
  if (text.find(',', end) != text.npos) return text;
  std::size_t digits = 0;
  for (std::size_t i = end; i-- > 0;) {
    if (text[i] == ',') {
      if (digits == 0 || digits % 3) return text;
    } else {
      digits += std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    }
  }
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out), [](char c) { return c != ','; });
  return out;
}

// What the unit's prefix multiplies by: Kbyte, Mhz, Ginst; ns, usecond.
double scale_of(const std::string& unit) {
  static const std::map<std::string, double> times{{"ns", 1e-9},      {"us", 1e-6},
                                                   {"ms", 1e-3},      {"nsecond", 1e-9},
                                                   {"usecond", 1e-6}, {"msecond", 1e-3}};
  if (const auto time = times.find(unit); time != times.end()) return time->second;
  if (unit.size() < 2 || !std::islower(static_cast<unsigned char>(unit[1]))) return 1;
  switch (unit[0]) {
    case 'K':
      return 1e3;
    case 'M':
      return 1e6;
    case 'G':
      return 1e9;
    case 'T':
      return 1e12;
    default:
      return 1;
  }
}

std::optional<double> value_of(const std::string& text, const std::string& unit) {
  const std::string plain = without_commas(text);
  double value = 0;
  const char* const end = plain.data() + plain.size();
  const auto [rest, error] = std::from_chars(plain.data(), end, value);
  if (error != std::errc{} || rest != end || !std::isfinite(value)) return std::nullopt;
  value *= scale_of(unit);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// "(16, 16, 1)" as 256; 0 for what is no size.
std::uint64_t product_of(const std::string& dims) {
  std::uint64_t product = 1, number = 0;
  int numbers = 0;
  bool in_number = false;
  for (const char c : dims + ")") {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      number = std::min<std::uint64_t>(10 * number + static_cast<unsigned>(c - '0'), 1u << 31);
      in_number = true;
    } else if (std::exchange(in_number, false)) {
      product *= std::exchange(number, 0);
      if (++numbers == 3) break;
      if (product > std::uint64_t{1} << 31) return 0;
    }
  }
  return numbers ? product : 0;
}

// The header of a table, and the columns that are not metrics of their own.
struct Table {
  Fields heads;
  std::size_t first_metric = 0;  // of the raw page
  std::size_t kernel, block, grid, name, unit, value;
  Fields units;  // of the raw page

  std::size_t column(std::string_view head) const {
    return static_cast<std::size_t>(std::ranges::find(heads, head) - heads.begin());
  }
  bool is_long() const { return value < heads.size() && name < heads.size(); }
  static const std::string& at(const Fields& row, std::size_t column) {
    static const std::string none;
    return column < row.size() ? row[column] : none;
  }
};

bool is_header(const Fields& row) {
  return row[0] == "ID" && std::ranges::find(row, "Kernel Name") != row.end();
}

Table table_of(const Fields& heads) {
  Table t;
  t.heads = heads;
  t.kernel = t.column("Kernel Name");
  t.block = t.column("Block Size");
  t.grid = t.column("Grid Size");
  t.name = t.column("Metric Name");
  t.unit = t.column("Metric Unit");
  t.value = t.column("Metric Value");
  // Metrics of the raw page have names with underscores; the columns in front of them do not.
  while (t.first_metric < heads.size() && heads[t.first_metric].find('_') == std::string::npos) {
    ++t.first_metric;
  }
  return t;
}

bool is_row(const Fields& row) {
  return !row[0].empty() &&
         std::ranges::all_of(row[0], [](unsigned char c) { return std::isdigit(c) != 0; });
}

NcuLaunch launch_of(const Table& t, const Fields& row) {
  return {printable(Table::at(row, t.kernel)),
          product_of(Table::at(row, t.block)),
          product_of(Table::at(row, t.grid)),
          {}};
}

NcuValue value_from(const std::string& metric, const std::string& unit, const std::string& text) {
  return {printable(metric), printable(unit), printable(text), value_of(text, unit)};
}

// Rows of one launch share its ID and follow each other; a launch has as many rows as metrics.
void add_long_row(const Table& t, const Fields& row, std::string& last_id,
                  std::vector<NcuLaunch>& launches) {
  if (launches.empty() || row[0] != last_id) launches.push_back(launch_of(t, row));
  last_id = row[0];
  if (row[t.name].empty()) return;  // a rule's row
  launches.back().values.push_back(value_from(row[t.name], Table::at(row, t.unit), row[t.value]));
}

void add_raw_row(const Table& t, const Fields& row, std::vector<NcuLaunch>& launches) {
  NcuLaunch& launch = launches.emplace_back(launch_of(t, row));
  for (std::size_t i = t.first_metric; i < row.size(); ++i) {
    if (row[i].empty()) continue;
    launch.values.push_back(value_from(t.heads[i], Table::at(t.units, i), row[i]));
  }
}

}  // namespace

const NcuValue* NcuLaunch::find(std::string_view metric) const {
  const auto at = std::ranges::find(values, metric, &NcuValue::metric);
  return at == values.end() ? nullptr : &*at;
}

std::vector<NcuLaunch> parse_ncu_export(std::string_view text, const std::string& name) {
  std::vector<NcuLaunch> launches;
  std::optional<Table> table;
  std::string last_id;
  Records records(text);
  Fields row;
  for (std::size_t line = 0; records.next(row, line, table.has_value());) {
    if (is_header(row)) {
      table = table_of(row);
      last_id.clear();
    } else if (!table) {
      continue;
    } else if (row[0].empty() && row.size() == table->heads.size()) {
      if (!table->is_long()) table->units = row;
    } else if (is_row(row) && row.size() > 1) {
      if (records.is_open()) {
        throw_bad_input(fmt::format("{}, line {}: a quote in the row never ends", name, line));
      }
      if (row.size() != table->heads.size()) {
        throw_bad_input(fmt::format("{}, line {}: the row has {} fields where the header has {}",
                                    name, line, row.size(), table->heads.size()));
      }
      table->is_long() ? add_long_row(*table, row, last_id, launches)
                       : add_raw_row(*table, row, launches);
    }
  }
  if (!table) {
    throw_bad_input(name + " holds no table of Nsight Compute; export one with ncu --csv");
  }
  if (launches.empty()) throw_bad_input(name + " holds no launch");
  return launches;
}

std::vector<NcuLaunch> read_ncu_export(const std::string& path) {
  const std::string name = in_quotes(path);
  return parse_ncu_export(read_whole_file(path, name, kMostBytes), name);
}

}  // namespace warpladder
