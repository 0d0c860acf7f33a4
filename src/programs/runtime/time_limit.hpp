#pragma once
// Watches how long kernels and host code take. The executor ends endless loops of launches that it
// counts. Here all others end: those of launches that are only checked, or repeat, and of host
// code.

#include <cstdint>

namespace warpladder::programs {

// Begin and end of a launch. `kernel` stays where it is.
void watch_launch(const char* kernel, std::uint64_t number);
void watch_host();

}  // namespace warpladder::programs
