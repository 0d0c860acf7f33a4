#pragma once
// Someone else's implementation of an operator, timed beside our rungs and held to the same truth;
// never itself the truth.

#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "ladder/ladder.hpp"

namespace warpladder::ops {

struct Rival {
  std::string op, name;
  std::string what;  // half a sentence: which calls
  std::string library;
  runtime::Target target = runtime::Target::cpu;
  ladder::Launcher launch = nullptr;   // is handed the operator's Call, as a rung is
  std::string (*version)() = nullptr;  // of the library; called only where it is there
  std::string (*why_not)() = nullptr;  // why it cannot run here, or empty; null: it can
  // A probe moves the operator's bytes without doing its work: the ceiling that rungs are measured
  // against. Its result is not judged.
  bool is_probe = false;
  ladder::Condition takes = nullptr;   // null: it takes every call
  ladder::Launcher prepare = nullptr;  // once before `launch`, as a rung's
  ladder::Arithmetic arithmetic = {};
  // Another way that people call the library: views over many shapes leave it out.
  bool is_detour = false;
};

// Called by static initialisation of each operator's rival_*.cpp.
bool declare_rival(Rival rival);
// In the order of their names.
std::vector<const Rival*> rivals_of(std::string_view op, runtime::Target target);

}  // namespace warpladder::ops
