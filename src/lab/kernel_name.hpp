#pragma once
// Readable names of kernels.

#include <string>

namespace warpladder::lab {

// Without the flavours' namespaces, and without the template's arguments if they are long:
// "reduce::reduce<parts::counted::Sum, …>" becomes "reduce::reduce<…>".
std::string short_kernel_name(const std::string& name);

}  // namespace warpladder::lab
