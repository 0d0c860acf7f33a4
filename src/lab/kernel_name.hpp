#pragma once
// Kernels' names as people read them.

#include <string>

namespace warpladder::lab {

// Without the flavours' namespaces and, where it is long, without the template's arguments:
// "reduce::reduce<parts::counted::Sum, …>" becomes "reduce::reduce<…>".
std::string short_kernel_name(const std::string& name);

}  // namespace warpladder::lab
