#include "lab/origin.hpp"

#include "base/provenance.hpp"
#include "device/device.hpp"

namespace warpladder::lab {

nlohmann::json origin(std::span<const char* const> argv) {
  nlohmann::json origin = provenance(argv);
  for (const auto target : {runtime::Target::cpu, runtime::Target::gpu}) {
    for (const device::Fact& fact : device::facts(target)) {
      origin["device"][device::name(target)][fact.name] = fact.value;
    }
  }
  return origin;
}

}  // namespace warpladder::lab
