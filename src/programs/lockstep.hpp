#pragma once
// Code from before CUDA 9 exchanges values within a warp through volatile memory, without
// __syncwarp(): it relies on lanes that run in lockstep.

#include <string>

namespace warpladder::programs {

// Marks each element of a volatile array or pointer that the text reads or writes by its name. So
// the executor keeps the lanes of a warp in step there (simt::before_load).
std::string mark_volatile(std::string text);

}  // namespace warpladder::programs
