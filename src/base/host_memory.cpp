#include "base/host_memory.hpp"

#include <fmt/format.h>

#include <fstream>
#include <limits>

#include "base/error.hpp"

namespace warpladder {

std::uint64_t available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    std::uint64_t kib = 0;
    if (word == "MemAvailable:" && file >> kib) return kib * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

void require_memory(double bytes, const std::string& what) {
  const auto available = static_cast<double>(available_memory_bytes());
  if (bytes > available) {
    throw_resource(fmt::format("{} needs {:.3g} GB of memory, but {:.3g} GB are available", what,
                               bytes * 1e-9, available * 1e-9));
  }
}

}  // namespace warpladder
