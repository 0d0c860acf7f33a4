#pragma once
// Which reduction, for host and device alike: plain data and arithmetic only.

#include <cstdint>

namespace warpladder::parts {

enum class Function { sum, mean, min, max, argmin, argmax };

constexpr Function kFunctions[] = {Function::sum, Function::mean,   Function::min,
                                   Function::max, Function::argmin, Function::argmax};
constexpr const char* kFunctionNames[] = {"sum", "mean", "min", "max", "argmin", "argmax"};
constexpr const char* name(Function f) { return kFunctionNames[static_cast<int>(f)]; }

// Whether the result is a place among the values rather than a value.
constexpr bool is_place(Function f) { return f == Function::argmin || f == Function::argmax; }

}  // namespace warpladder::parts
