#pragma once
// What the program of the library's host tests has asked of the system, in all.

#include <atomic>

namespace warpladder::library_tests {

extern std::atomic<long> heap_allocations, locks_taken;

}  // namespace warpladder::library_tests
