#pragma once
// Where a report comes from.

#include <nlohmann/json.hpp>
#include <span>

namespace warpladder::lab {

// provenance(argv), and under "device" what device::facts() tells of either target.
nlohmann::json origin(std::span<const char* const> argv);

}  // namespace warpladder::lab
