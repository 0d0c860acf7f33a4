#pragma once
// What Nsight Compute exports as CSV. Its raw page has one row a launch and one column a metric,
// the others have one row a metric. What the profiled program printed around it is passed over.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpladder {

struct NcuValue {
  std::string metric, unit, text;  // as exported
  // In units without a prefix: bytes of Kbyte, seconds of us. Nothing where the text is no number.
  std::optional<double> value;
};

struct NcuLaunch {
  std::string kernel;
  std::uint64_t block_threads = 0, grid_blocks = 0;  // 0 where the export does not say
  std::vector<NcuValue> values;
  const NcuValue* find(std::string_view metric) const;
};

// In the order of the export; launches without a metric too. Throws Error(bad_input) that begins
// with `name`: for a text without a table, or with a row that does not fit it.
std::vector<NcuLaunch> parse_ncu_export(std::string_view text, const std::string& name);
std::vector<NcuLaunch> read_ncu_export(const std::string& path);

}  // namespace warpladder
