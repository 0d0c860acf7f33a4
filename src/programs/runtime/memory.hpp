#pragma once
// The allocations of a program, and which of its variables kernels may touch.

#include <cstddef>
#include <cstdint>

#include "programs/runtime/session.hpp"

namespace warpladder::programs {

// Once, before the first launch or allocation: variables and constants become known to kernels,
// and host code may no longer touch device memory unnoticed.
void map_variables();

// A number that differs, but for chance, when memory does. It covers all that kernels can change,
// or what the host can change without a call, too.
enum class Part { all, host_accessible };
std::uint64_t memory_state(Part part);
std::size_t memory_bytes(Part part);

// Where reads of uninitialised memory are looked for: all that is allocated counts as written. A
// library's call, or a launch that nobody looked at, has written some of it.
void note_all_written();

// Notes, or findings if the settings say so, for what was never freed.
void report_leaks();

}  // namespace warpladder::programs
