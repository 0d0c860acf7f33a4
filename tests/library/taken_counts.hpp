#pragma once
// What a program has taken in all: filled by taken.hpp, which one of its source files includes.

#include <atomic>

namespace taken {

inline std::atomic<long> heap_allocations{0}, locks{0};

}  // namespace taken
