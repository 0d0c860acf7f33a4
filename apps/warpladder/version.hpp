#pragma once

namespace warpladder::app {

// As in CMakeLists.txt; tests/apps/test_command_line.py compares the two.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace warpladder::app
