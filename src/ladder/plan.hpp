#pragma once
// The decision of an operator's plan() for a problem on a machine.

#include <cstddef>

#include "ladder/rung.hpp"

namespace warpladder::ladder {

template <class Call>
struct Plan {
  const Rung<Call>* rung = nullptr;
  const char* id = "";  // of the rung
  // Bytes of uninitialised device memory that the launch needs, aligned to 256.
  std::size_t workspace_bytes = 0;
  // 64-bit words of device memory that are zero before and after the launch.
  std::size_t flag_words = 0;
  // Device memory that the rung's `prepare` fills and its `launch` reads.
  std::size_t prepared_bytes = 0;
};

// Whether the machine has what the rung needs.
template <class Call>
bool runs_on(const runtime::Machine& machine, const Rung<Call>& rung) {
  return rung.needs.met_by(machine);
}

}  // namespace warpladder::ladder

// For plan.cu files, in the namespace of the operator and the flavour: declares a rung of the
// operator, and names it in a Plan. A name without a file fails at link.
#define WARPLADDER_USES_RUNG(stem) extern const ::warpladder::ladder::Rung<Call> rung_##stem
#define WARPLADDER_PLANNED(stem) &rung_##stem, #stem
