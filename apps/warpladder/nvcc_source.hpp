#pragma once
// Which file nvcc compiles for FILE.cu or OP/RUNG, for which GPU, with which flags.

#include <string>
#include <vector>

#include "lab/compiled_code.hpp"

namespace warpladder::app {

// FILE.cu, or the file of OP/RUNG below `root`, the folder of warpladder's sources, which `setting`
// names. Throws Error(bad_input) where there is none.
std::string source_to_compile(const std::string& asked, const std::string& root,
                              const char* setting);
// Hopper's own for its rungs, else 90.
std::string default_architecture(const std::string& source);
// Refuses what is not as in 80 or 90a.
void require_architecture(const char* flag, const std::string& architecture);
// The flags of the project's own GPU code.
std::vector<std::string> flags_of_nvcc(const std::string& asked, const std::string& root);

// "4 FFMA, 1 LDG.E.128": the most frequent first.
std::string counts_text(const lab::Instructions& instructions);

}  // namespace warpladder::app
