#pragma once
// explain's page: the source with its counts, maps of single requests, occupancy, roofs, and what
// changed from one version to another.

#include <string>
#include <utility>
#include <vector>

#include "lab/explain.hpp"

namespace warpladder::lab {

struct ExplainPage {
  std::vector<const Explanation*> parts;
  std::vector<std::pair<const Explanation*, const Explanation*>> versions;  // side by side
  std::vector<const Gpu*> gpus;  // whose occupancy is shown; empty: all that are known
};

// Complete, without anything from elsewhere, the same bytes for the same counts.
std::string html(const ExplainPage& page);

}  // namespace warpladder::lab
