#pragma once
// The provenance of a report.

#include <nlohmann/json.hpp>
#include <span>

namespace warpladder::lab {

// provenance(argv), and device::facts() of both targets under "device".
nlohmann::json origin(std::span<const char* const> argv);

}  // namespace warpladder::lab
