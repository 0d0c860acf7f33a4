#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/atomic_file.hpp"

namespace warpladder::app {

// Throws now rather than after minutes of work if the file cannot be written. Leaves no trace, so
// an interrupted program does not either. A pipe's reader would notice that it was opened twice:
// pipes and devices are found out when they are written.
inline void require_writable(const std::string& path, std::string_view argument) {
  std::error_code absent;
  if (!std::filesystem::is_other(std::filesystem::status(path, absent))) AtomicFile(path, argument);
}

}  // namespace warpladder::app
