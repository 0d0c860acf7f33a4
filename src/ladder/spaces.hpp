#pragma once
// The spaces of all rungs that declare one, as the lab sees them: with the type of calls erased.

#include <string>
#include <string_view>
#include <vector>

#include "ladder/ladder.hpp"
#include "ladder/space.hpp"

namespace warpladder::ladder {

struct AnyConfiguration {
  std::vector<int> values;
  Launcher launch[runtime::kFlavours] = {};  // null where this build has no such flavour
  Erased<Demand> demand = {};
};

struct AnySpace {
  std::string op, rung;
  std::vector<std::string> parameters = {};
  std::vector<AnyConfiguration> configurations = {};
  Erased<int, const runtime::Machine&> today = {}, own = {};
  std::string accepts;
  Condition takes = {};

  std::string full_name() const { return op + "/" + rung; }
  // "rows=128 columns=128 depth=8 resident=2"
  std::string text(std::size_t configuration) const;
};

// Called by static initialisation of the list that the build writes.
bool declare_space(AnySpace space);
// Sorted by operator, then rung.
const std::vector<AnySpace>& all_spaces();
// Null where the rung declares none, or this program holds none.
const AnySpace* find_space(std::string_view op, std::string_view rung);

// The flavours of one space that are run. `gpu`: null where this build has none.
template <class Call>
AnySpace erased_space(const char* op, const char* rung, const Space<Call>* gpu,
                      const Space<Call>* counted) {
  AnySpace space{.op = op,
                 .rung = rung,
                 .today = counted->today,
                 .own = counted->own,
                 .accepts = counted->accepts,
                 .takes = counted->takes};
  for (const char* parameter : counted->parameters) {
    if (parameter) space.parameters.push_back(parameter);
  }
  for (int i = 0; i < counted->count; ++i) {
    const Configuration<Call>& of_counted = counted->configurations[i];
    AnyConfiguration& configuration = space.configurations.emplace_back();
    configuration.values.assign(of_counted.values, of_counted.values + space.parameters.size());
    configuration.demand = of_counted.demand;
    configuration.launch[static_cast<int>(runtime::Flavour::counted)] = of_counted.launch;
    if (gpu) {
      configuration.launch[static_cast<int>(runtime::Flavour::gpu)] = gpu->configurations[i].launch;
    }
  }
  return space;
}

}  // namespace warpladder::ladder
