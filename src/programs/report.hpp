#pragma once
// What check found, in the forms that people, compilers' readers and CI take.

#include <nlohmann/json.hpp>
#include <string>

#include "programs/program.hpp"

namespace warpladder::programs {

// A line each: "FILE:LINE:1: error: sentence [kind]", as g++ writes its own; advice is a warning.
std::string as_gcc(const Outcome& outcome);
nlohmann::json as_json(const Outcome& outcome);
// SARIF 2.1.0, which code hosts and editors read. `version` is this program's.
nlohmann::json as_sarif(const Outcome& outcome, const std::string& version);

// "the program was ended by signal 15 (Terminated) while launch 2 of scale ran"
std::string end_of(const Outcome& outcome);

// For a person: findings, notes, how much was looked at, and how the program ended if not well.
std::string as_text(const Outcome& outcome);

}  // namespace warpladder::programs
