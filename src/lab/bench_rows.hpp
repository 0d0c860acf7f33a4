#pragma once
// Converts rows of bench to JSON and back, for reports and journals.

#include <nlohmann/json.hpp>

#include "base/recording.hpp"
#include "lab/bench.hpp"

namespace warpladder::lab {

nlohmann::json as_json(const Statistics& statistics);
nlohmann::json as_json(const BenchRow& row);
// The inverse of as_json(), without the group. For an unknown operator the measure is
// floating-point operations, if the row has any.
BenchRow bench_row_of(const RecordedRow& recorded);

}  // namespace warpladder::lab
