#pragma once
// Prints the counts of a rung or of a user's kernel.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/explain.hpp"
#include "lab/explain_page.hpp"
#include "verb.hpp"

namespace warpladder::app {

std::string accesses_text(const executor::AccessCounts& a);  // "global loads of 4 B"
std::string ratio_text(std::uint64_t a, std::uint64_t b);
std::string mean_text(double mean);
std::string dims(const runtime::Dim3& d);  // "16x16x1"

std::string gpu_keys();  // "h200, h100, …"

// --gpu NAME[,NAME…]: the first one's report, and the roof and occupancy of all.
struct GpuFlag {
  std::vector<std::string> keys;
  void add_to(CLI::App& verb);
  std::vector<const lab::Gpu*> given() const;  // throws for one that is not known
};

// --cubin FILE: what nvcc made of the kernels.
struct CubinFlag {
  std::string path;
  void add_to(CLI::App& verb);
  // For the kernels of explanations that the file holds; throws if it holds none of them.
  void add_resources_to(std::vector<lab::Explanation*> explanations) const;
};

// --html FILE|-: the page goes there, with the occupancy of the GPUs that were named, else of all.
struct HtmlFlag {
  std::string path;
  void add_to(CLI::App& verb);
  void write(lab::ExplainPage page, const GpuFlag& gpu) const;
};

// The totals, and what changed.
void print_side_by_side(const lab::Explanation& a, const lab::Explanation& b);
void print_blame(const lab::Explanation& e);
// The totals, if asked for, and the lines. `e` has at least one.
void print_counted(const lab::Explanation& e, bool with_totals);
// A row of roof and occupancy for each GPU, where there are several.
void print_gpus(const lab::Explanation& e, const std::vector<const lab::Gpu*>& gpus);
nlohmann::json explanation_json(const lab::Explanation& e,
                                const std::vector<const lab::Gpu*>& gpus);

}  // namespace warpladder::app
