#pragma once
// explain's words for Nsight Compute's metrics, and its numbers beside ours.

#include "base/ncu_export.hpp"
#include "lab/explain.hpp"
#include "verb.hpp"

namespace warpladder::app {

// --metric NAME: takes the name apart.
void print_metric(const std::string& metric);

// --ncu FILE.csv: an export of Nsight Compute, set beside the counts.
struct NcuFlag {
  std::string path;
  void add_to(CLI::App& verb);
  bool asked() const { return !path.empty(); }
  std::vector<NcuLaunch> read() const;
};
void print_beside(const lab::Explanation& e, const std::vector<NcuLaunch>& measured);
nlohmann::json beside_json(const lab::Explanation& e, const std::vector<NcuLaunch>& measured);

}  // namespace warpladder::app
