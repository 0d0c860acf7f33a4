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

// No names at all mean every rung of every operator. Throws Error(bad_input) for an unknown name.
std::vector<Selected> select(const std::vector<std::string>& names);
// The same, each rung once, however often its name or its operator's is given.
std::vector<Selected> select_once(const std::vector<std::string>& names);
// Exactly one rung, written OP/RUNG. `argument` names the argument in the error's sentence.
Selected select_one(const std::string& name);

// The flavours in which rungs run on a target: gpu, or plain and (if asked for) counted.
std::vector<runtime::Flavour> flavours_on(runtime::Target target, bool counted);
const char* name(runtime::Flavour flavour);

}  // namespace warpladder::lab
