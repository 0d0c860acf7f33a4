#pragma once
// Inline PTX that has a meaning on the CPU.

#include <optional>
#include <string>

namespace warpladder::programs {

// Of what stands in the brackets of an asm statement: the C++ that does the same. For PTX that is
// not known, a call that g++ refuses if it is ever made. Nothing for an empty instruction.
std::optional<std::string> meaning_of_ptx(const std::string& inside);

}  // namespace warpladder::programs
