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
  Erased<int, const runtime::Machine&> today = {};
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

// The flavours of one space; null where this build has none.
template <class Call>
AnySpace erased_space(const char* op, const char* rung, const Space<Call>* gpu,
                      const Space<Call>* plain, const Space<Call>* counted) {
  AnySpace space{.op = op,
                 .rung = rung,
                 .today = plain->today,
                 .accepts = plain->accepts,
                 .takes = plain->takes};
  for (const char* parameter : plain->parameters) {
    if (parameter) space.parameters.push_back(parameter);
  }
  for (int i = 0; i < plain->count; ++i) {
    const Configuration<Call>& of_plain = plain->configurations[i];
    AnyConfiguration& configuration = space.configurations.emplace_back();
    configuration.values.assign(of_plain.values, of_plain.values + space.parameters.size());
    configuration.demand = of_plain.demand;
    for (const Space<Call>* flavour : {gpu, plain, counted}) {
      if (!flavour) continue;
      const int place = static_cast<int>(flavour == gpu     ? runtime::Flavour::gpu
                                         : flavour == plain ? runtime::Flavour::plain
                                                            : runtime::Flavour::counted);
      configuration.launch[place] = flavour->configurations[i].launch;
    }
  }
  return space;
}

}  // namespace warpladder::ladder
