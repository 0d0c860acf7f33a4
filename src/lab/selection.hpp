#pragma once
// Which rungs a command means: "sgemm" is all rungs of the operator, "sgemm/row_01_naive" one.

#include <string>
#include <vector>

#include "ops/lab/operator.hpp"

namespace warpladder::lab {

struct Selected {
  const ops::Operator* op = nullptr;
  const ladder::AnyRung* rung = nullptr;
};

// A name may hold * and ?, as a shell's: "sgemm/row_*", "reduce*". Without names, every rung of
// every operator. Throws Error(bad_input) for a name that matches none.
std::vector<Selected> select(const std::vector<std::string>& names);
// The same, but each rung once.
std::vector<Selected> select_once(const std::vector<std::string>& names);
// Throws Error(bad_input) for an operator's name alone.
void require_rung(const std::string& name);
// Exactly one rung, written OP/RUNG.
Selected select_one(const std::string& name);

// The flavour in which rungs run fast on a target.
runtime::Flavour flavour_on(runtime::Target target);
const char* name(runtime::Flavour flavour);

}  // namespace warpladder::lab
