#pragma once
// Formats that other programs read: comma-separated values, and JUnit's XML.

#include <string>
#include <vector>

namespace warpladder::app {

// A field, in quotation marks if it needs them.
std::string csv_field(const std::string& text);
// Fields separated by commas, with a newline at the end.
std::string csv_line(const std::vector<std::string>& fields);

enum class Outcome { passed, failed, skipped };
struct JunitCase {
  std::string class_name, name;
  Outcome outcome = Outcome::passed;
  std::string message;  // why it failed or was skipped
};
// Failed if there is a failure, skipped if there is a reason, else passed.
JunitCase junit_case(const std::string& class_name, const std::string& name,
                     const std::string& failure, const std::string& skipped = "");
// One suite of these cases.
std::string junit(const std::string& suite, const std::vector<JunitCase>& cases);

}  // namespace warpladder::app
