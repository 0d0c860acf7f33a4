#pragma once
// What may follow a variant: kDetails says how it is written.

#include <string_view>

#include "ops/sgemm/lab/cases.hpp"

namespace warpladder::sgemm {

// Adds them to a plain case, and to its name. Throws Error(bad_input).
void add_details(GemmCase& c, std::string_view details);

}  // namespace warpladder::sgemm
