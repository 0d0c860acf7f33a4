#pragma once
// The allocations of a program, and which of its variables kernels may touch.

#include <cstddef>
#include <cstdint>

#include "programs/runtime/session.hpp"

namespace warpladder::programs {

// Once, before the first launch or allocation: variables and constants become known to kernels,
// and host code may no longer touch device memory unnoticed.
void map_variables();

// Notes, or findings if the settings say so, for what was never freed.
void report_leaks();

}  // namespace warpladder::programs
