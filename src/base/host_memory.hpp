#pragma once
// How much memory the host has left, so that a request beyond it is refused in a sentence instead
// of being killed by the operating system.

#include <cstdint>
#include <string>

namespace warpladder {

// What the operating system (MemAvailable of /proc/meminfo) and the container (its cgroup) leave,
// in bytes; a very large number where neither can be read.
std::uint64_t available_memory_bytes();

// Throws Error(resource) if `bytes` are more than there are. `what` begins the sentence.
void require_memory(double bytes, const std::string& what);

}  // namespace warpladder
