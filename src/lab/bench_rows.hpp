#pragma once
// Rows of bench as JSON, and back: in its report, and in the journal of a bench that may be
// interrupted.

#include <nlohmann/json.hpp>

#include "base/recording.hpp"
#include "lab/bench.hpp"

namespace warpladder::lab {

nlohmann::json as_json(const Statistics& statistics);
nlohmann::json as_json(const BenchRow& row);
// All that as_json() says, but for the group. Of an operator that is not known the measure is
// floating-point operations, where the row has any.
BenchRow bench_row_of(const RecordedRow& recorded);

}  // namespace warpladder::lab
