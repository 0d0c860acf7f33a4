#pragma once
// The host's free memory. A larger request is refused with a sentence, before the operating system
// kills the process.

#include <cstdint>
#include <string>

namespace warpladder {

// Free bytes by the operating system (MemAvailable of /proc/meminfo) and the container's cgroup. A
// very large number if neither can be read.
std::uint64_t available_memory_bytes();

// Throws Error(resource) if `bytes` are more than there are. `what` begins the sentence.
void require_memory(double bytes, const std::string& what);

}  // namespace warpladder
