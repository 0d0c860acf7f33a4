#include "lab/ncu_compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "lab/kernel_name.hpp"
#include "lab/ncu_metrics.hpp"

namespace warpladder::lab {
namespace {

using executor::KernelCounts;

// Ours of one launch, by the names of metrics.
std::map<std::string, double> ours_of(const KernelCounts& launch, const Explanation& e) {
  std::map<std::string, double> values;
  for (const NcuMetric& m : ncu_metrics({launch})) values[m.name] = static_cast<double>(m.value);
  values["launch__block_size"] = static_cast<double>(launch.block.count());
  values["launch__grid_size"] = static_cast<double>(launch.grid.count());
  values["launch__shared_mem_per_block_dynamic"] = static_cast<double>(launch.dynamic_shared_bytes);
  if (const CompiledResources* compiled = e.compiled_of(launch.kernel, *e.gpu)) {
    values["launch__registers_per_thread"] = compiled->registers;
    values["launch__shared_mem_per_block_static"] =
        static_cast<double>(compiled->static_shared_bytes);
  }
  return values;
}

bool is_same_size(const NcuLaunch& measured, const KernelCounts& ours) {
  const auto fits = [](std::uint64_t a, std::uint64_t b) { return a == 0 || a == b; };
  return fits(measured.block_threads, ours.block.count()) &&
         fits(measured.grid_blocks, ours.grid.count());
}

// Sums of a metric over launches.
struct Mean {
  double sum = 0;
  std::size_t count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return sum / static_cast<double>(count); }
};

NcuComparison compared(const std::vector<const KernelCounts*>& ours,
                       const std::vector<const NcuLaunch*>& measured, const Explanation& e) {
  NcuComparison c;
  c.kernel = short_kernel_name(ours.front()->kernel);
  c.our_launches = ours.size();
  c.measured_launches = measured.size();
  std::map<std::string, Mean> mean_of_ours, mean_of_theirs;
  std::set<std::string> no_numbers;
  for (const KernelCounts* launch : ours) {
    for (const auto& [metric, value] : ours_of(*launch, e)) mean_of_ours[metric].add(value);
  }
  for (const NcuLaunch* launch : measured) {
    for (const NcuValue& v : launch->values) {
      if (v.value) {
        mean_of_theirs[v.metric].add(*v.value);
      } else if (mean_of_ours.contains(v.metric)) {
        no_numbers.insert(v.metric);
      }
    }
  }
  c.no_numbers.assign(no_numbers.begin(), no_numbers.end());
  for (const auto& [metric, theirs] : mean_of_theirs) {
    const auto our = mean_of_ours.find(metric);
    if (our == mean_of_ours.end()) {
      ++c.others;
    } else {
      c.rows.push_back({metric, theirs.value(), our->second.value()});
    }
  }
  if (c.rows.empty()) {
    c.problem =
        "the export holds no metric that is counted here. Its names must be Nsight "
        "Compute's: export with --page raw, or with --metrics";
  }
  return c;
}

}  // namespace

std::string bare_kernel_name(const std::string& name) {
  std::string bare;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' && depth == 0 && !name.substr(i).starts_with("(anonymous")) break;
    if (c == '<') {
      ++depth;
    } else if (c == '>' && depth > 0) {
      --depth;
    } else if (c == '>') {
      bare.clear();  // Nsight Compute cuts "<unnamed>" to "unnamed>"
    } else if (depth == 0) {
      bare += c;
    }
  }
  const std::size_t scope = bare.rfind("::");
  if (scope != bare.npos) bare = bare.substr(scope + 2);
  return bare.starts_with("void ") ? bare.substr(5) : bare;
}

void require_launch_of(const std::vector<Explanation*>& explained,
                       const std::vector<NcuLaunch>& measured) {
  constexpr std::size_t kShown = 3;
  std::set<std::string> ours, theirs, both;
  for (const Explanation* e : explained) {
    for (const KernelCounts& k : e->launches) ours.insert(bare_kernel_name(k.kernel));
  }
  for (const NcuLaunch& launch : measured) theirs.insert(bare_kernel_name(launch.kernel));
  std::ranges::set_intersection(ours, theirs, std::inserter(both, both.end()));
  if (!both.empty() || ours.empty()) return;
  const auto listed = [&](const std::set<std::string>& names) {
    return fmt::format("{}{}", fmt::join(names | std::views::take(kShown), ", "),
                       names.size() > kShown ? " and others" : "");
  };
  throw_bad_input(fmt::format("the export of --ncu holds launches of {}, but none of {}",
                              listed(theirs), listed(ours)));
}

std::vector<NcuComparison> beside(const Explanation& e, const std::vector<NcuLaunch>& measured) {
  std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, std::vector<const KernelCounts*>>
      groups;
  for (const KernelCounts& k : e.launches) {
    groups[{k.kernel, k.grid.count(), k.block.count()}].push_back(&k);
  }
  std::vector<NcuComparison> list;
  for (const auto& [key, ours] : groups) {
    const std::string bare = bare_kernel_name(ours.front()->kernel);
    std::vector<const NcuLaunch*> same;
    const NcuLaunch* other = nullptr;  // of the same name, but not of the same size
    for (const NcuLaunch& launch : measured) {
      if (bare_kernel_name(launch.kernel) != bare) continue;
      if (is_same_size(launch, *ours.front())) {
        same.push_back(&launch);
      } else {
        other = &launch;
      }
    }
    if (!same.empty()) {
      list.push_back(compared(ours, same, e));
      continue;
    }
    NcuComparison& none = list.emplace_back();
    none.kernel = short_kernel_name(ours.front()->kernel);
    none.our_launches = ours.size();
    none.problem =
        other ? fmt::format(
                    "the export's launches have other sizes, {} blocks of {} threads where "
                    "{} of {} were counted",
                    other->grid_blocks, other->block_threads, ours.front()->grid.count(),
                    ours.front()->block.count())
              : "the export holds no launch of it";
  }
  return list;
}

}  // namespace warpladder::lab
