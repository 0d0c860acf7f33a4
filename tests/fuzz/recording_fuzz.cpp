// Any bytes either parse to a recording that keeps its promises, or are refused with an Error.
// CONTRIBUTING.md says how to build it.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/recording.hpp"

namespace {

using namespace warpladder;

// Unlike assert, holds in release builds; libFuzzer reports the abort with the input.
void require(bool condition) {
  if (!condition) std::abort();
}

void require_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = printable_bytes(text);
    require(bytes > 0);
    text.remove_prefix(bytes);
  }
}

void check(const RecordedRow& row) {
  for (const SampleKind& kind : kSampleKinds) {
    for (const double sample : row.*kind.samples) require(std::isfinite(sample) && sample > 0);
  }
  for (const std::int64_t size : row.shape) require(size >= 0);
  for (const std::string* text : {&row.op, &row.rung, &row.variant, &row.shape_class, &row.remark,
                                  &row.skipped, &row.failure, &row.invalid, &row.judged_in_part}) {
    require_printable(*text);
  }
  for (const auto& [name, count] : row.counts) require_printable(name);
  require(row.flops >= 0 && row.bytes >= 0 && row.worst_error_over_bound >= 0);
  require(row.clocks.least_mhz >= 0 && row.clocks.most_mhz >= 0);
}

void check(const Recording& recording) {
  require(recording.head.is_object() && !recording.head.contains("rows"));
  require_printable(recording.verb);
  for (const auto& [key, value] : recording.head.items()) {
    require_printable(recording.text({key}));
    require_printable(recording.text({key, "gpu", "GPU"}));
  }
  for (const RecordedRow& row : recording.rows) check(row);
  for (const RecordedVerdict& verdict : recording.verdicts) {
    require_printable(verdict.rung);
    for (const RecordedCase& each : verdict.cases) require(each.worst_error_over_bound >= 0);
  }
  for (const RecordedAccuracy& row : recording.accuracy) {
    for (const RecordedErrors& point : row.points) {
      require(point.frobenius >= 0 && point.componentwise >= 0);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    check(parse_recording({reinterpret_cast<const char*>(data), size}, "input"));
  } catch (const Error& error) {
    const std::string_view sentence = error.what();
    require(error.code() == ErrorCode::bad_input);
    require(sentence.starts_with("input"));
    require_printable(sentence);
    require(sentence.size() < 500);
  }
  return 0;
}
