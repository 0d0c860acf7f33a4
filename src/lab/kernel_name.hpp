#pragma once
// Readable names of kernels.

#include <string>

namespace warpladder::lab {

// Without the flavours' namespaces, and without the template's arguments if they are long:
// "reduce::reduce<parts::counted::Sum, …>" becomes "reduce::reduce<…>".
std::string short_kernel_name(const std::string& name);

// The whole name without the project's and the flavours' namespaces, and without blanks: g++ and
// nvcc then name a kernel alike.
std::string without_namespaces(const std::string& name);

}  // namespace warpladder::lab
