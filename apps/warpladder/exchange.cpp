#include "exchange.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/svg.hpp"

namespace warpladder::app {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ",";
    line += csv_field(field);
  }
  return line + "\n";
}

JunitCase junit_case(const std::string& class_name, const std::string& name,
                     const std::string& failure, const std::string& skipped) {
  const Outcome outcome = !failure.empty()   ? Outcome::failed
                          : !skipped.empty() ? Outcome::skipped
                                             : Outcome::passed;
  return {class_name, name, outcome, failure.empty() ? skipped : failure};
}

std::string junit(const std::string& suite, const std::vector<JunitCase>& cases) {
  const auto count = [&](Outcome outcome) {
    return std::ranges::count(cases, outcome, &JunitCase::outcome);
  };
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{}\" "
      "tests=\"{}\" failures=\"{}\" skipped=\"{}\" errors=\"0\">\n",
      lab::xml_text(suite), cases.size(), count(Outcome::failed), count(Outcome::skipped));
  for (const JunitCase& each : cases) {
    text += fmt::format("<testcase classname=\"{}\" name=\"{}\"", lab::xml_text(each.class_name),
                        lab::xml_text(each.name));
    if (each.outcome == Outcome::passed) {
      text += "/>\n";
    } else {
      text += fmt::format("><{} message=\"{}\"/></testcase>\n",
                          each.outcome == Outcome::failed ? "failure" : "skipped",
                          lab::xml_text(each.message));
    }
  }
  return text + "</testsuite>\n</testsuites>\n";
}

}  // namespace warpladder::app
