#pragma once
// Expressions that users write, before a compiler sees them.

#include <string>

#include "runtime/status.hpp"

namespace warpladder::runtime {

// Refuses what could end the expression or begin something else: unbalanced parentheses, braces,
// semicolons, commas outside of parentheses, comments, quotes, backslashes, directives, control
// characters. `name` begins the sentence.
Status check_expression(const char* name, const char* expression) noexcept;

// A type `Function` whose objects compute the expression of these parameters, as CUDA C++. A
// complaint of the compiler then names line 1 of "expression".
std::string function_object(const char* parameters, const char* expression);

}  // namespace warpladder::runtime
