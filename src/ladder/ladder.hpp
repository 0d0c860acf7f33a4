#pragma once
// All rungs of all operators, by id. Holds no rung's name: rungs declare themselves.

#include <string>
#include <string_view>
#include <vector>

#include "device/counts.hpp"
#include "ladder/rung.hpp"

namespace warpladder::ladder {

struct Rung {
  std::string op, id, idea, accepts;
  bool on_host = false;
  Launcher launch[device::kFlavours] = {};  // null where this build has no such flavour
  Predictor predict = nullptr;
  bool (*takes)(const void* call) = nullptr;
  Launcher prepare[device::kFlavours] = {};  // null: there is nothing to prepare
  Arithmetic arithmetic;

  Launcher launcher(device::Flavour flavour) const { return launch[static_cast<int>(flavour)]; }
  Launcher preparation(device::Flavour flavour) const { return prepare[static_cast<int>(flavour)]; }
  std::string full_name() const { return op + "/" + id; }
};

// Sorted by operator, then id.
const std::vector<Rung>& all_rungs();
std::vector<const Rung*> rungs_of(std::string_view op);
// Throws Error(bad_input), naming the operators or rungs that there are.
const Rung& find_rung(std::string_view op, std::string_view id);

// Why the rung cannot run in this flavour in this build, or empty if it can.
std::string why_not(const Rung& rung, device::Flavour flavour);
// Why it cannot run on this problem, or empty if it can.
std::string why_not(const Rung& rung, const void* call);

// Whether each total is the predicted one, or not predicted.
bool agrees(const Totals& counted, const Totals& predicted);

Totals totals_of(const std::vector<device::KernelCounts>& launches);

}  // namespace warpladder::ladder
