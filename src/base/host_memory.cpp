#include "base/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/error.hpp"

namespace warpladder {

namespace {

constexpr auto kUnlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t machine_available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    std::uint64_t kib = 0;
    if (word == "MemAvailable:" && file >> kib) return kib * 1024;
  }
  return kUnlimited;
}

// What a container's limit leaves ("max" and a missing file mean that there is none).
std::uint64_t container_available_bytes() {
  std::uint64_t limit = 0, used = 0;
  if (!(std::ifstream("/sys/fs/cgroup/memory.max") >> limit)) return kUnlimited;
  if (!(std::ifstream("/sys/fs/cgroup/memory.current") >> used)) return kUnlimited;
  return limit > used ? limit - used : 0;
}

}  // namespace

std::uint64_t available_memory_bytes() {
  return std::min(machine_available_bytes(), container_available_bytes());
}

void require_memory(double bytes, const std::string& what) {
  const auto available = static_cast<double>(available_memory_bytes());
  if (bytes > available) {
    throw_resource(fmt::format("{} needs {:.3g} GB of memory, but {:.3g} GB are available", what,
                               bytes * 1e-9, available * 1e-9));
  }
}

}  // namespace warpladder
