#pragma once
// What the lines of a rung became in machine code, beside what the executor counted there.

#include <nlohmann/json.hpp>
#include <string>

#include "lab/compile_flow.hpp"
#include "lab/explain.hpp"

namespace warpladder::app {

// Compiles the rung's source with nvcc. Throws as lab::line_code() does, and Error(bad_input) where
// the source is not found.
lab::LineCode line_code_of(const lab::Explanation& e, const std::string& architecture);
// The lines that `e` counts, in its order, and a sentence for each whose accesses were merged.
void print_line_code(const lab::Explanation& e, const lab::LineCode& code);
nlohmann::json line_code_json(const lab::LineCode& code);

}  // namespace warpladder::app
