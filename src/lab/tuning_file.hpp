#pragma once
// tuning/ARCHITECTURE/OPERATOR.json: what plans read of measurements. `tune --into` writes the
// configurations; the constants of the model stay as they are.

#include <nlohmann/json.hpp>
#include <string>

#include "lab/tune.hpp"

namespace warpladder::lab {

// "sm_90"
std::string architecture_of(const runtime::Machine& machine);

// The file with the winners of `report`: of each rung one entry for each problem, and the run that
// it comes from. An empty `contents`: there was no file. Throws Error(bad_input) that begins with
// `subject` where the contents are of something else.
nlohmann::json with_winners(const std::string& contents, const std::string& subject,
                            const TuneRequest& request, const TuneReport& report,
                            const std::string& architecture, const nlohmann::json& origin);

}  // namespace warpladder::lab
