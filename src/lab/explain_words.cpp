#include "lab/explain_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/with_commas.hpp"
#include "lab/kernel_name.hpp"

namespace warpladder::lab {
namespace {

using executor::AccessKind;
using executor::MemorySpace;

// "3.2× fewer", "12 % more"; empty where they are as good as equal.
std::string change_text(std::uint64_t before, std::uint64_t after) {
  constexpr double kAlike = 0.005;
  if (before == 0 || after == 0) return before == after ? "" : after ? "new" : "gone";
  const double ratio = static_cast<double>(after) / static_cast<double>(before);
  if (std::abs(ratio - 1) < kAlike) return "";
  const char* const word = ratio < 1 ? "fewer" : "more";
  const double factor = ratio < 1 ? 1 / ratio : ratio;
  if (factor >= 1.5) return fmt::format("{:.3g}× {}", factor, word);
  return fmt::format("{:.2g} % {}", 100 * std::abs(ratio - 1), word);
}

std::string change_of(const std::string& what, std::uint64_t before, std::uint64_t after) {
  return fmt::format("{} {} → {} ({})", what, with_commas(before), with_commas(after),
                     change_text(before, after));
}

}  // namespace

const char* name(MemorySpace space) { return space == MemorySpace::global ? "global" : "shared"; }

const char* name(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return "load";
    case AccessKind::store:
      return "store";
    case AccessKind::atomic:
      return "atomic";
  }
  return "";
}

std::string access_text(const executor::AccessCounts& access) {
  return fmt::format("{} {} {} B", name(access.space), name(access.kind), access.bytes);
}

std::string place_of(const LineCounts& line) {
  return fmt::format("{}:{}", std::filesystem::path(line.file).filename().string(), line.line);
}

std::string share_text(std::uint64_t cycles, const Explanation& e) {
  if (cycles == 0) return "";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(cycles) / static_cast<double>(e.cost()));
}

std::string blame_sentence(const Explanation& e) {
  if (!e.to_blame) return "";
  const LineCounts& line = e.lines[e.to_blame->line];
  const std::string avoidable = share_text(line.avoidable(), e);
  return fmt::format(
      "Line to blame: {} ({} of the L1 cycles{}): {}.", place_of(line), share_text(line.cost(), e),
      avoidable.empty() ? "" : ", " + avoidable + " avoidable", e.to_blame->sentence);
}

std::string ideal_sentence(const Explanation& e) {
  if (!e.to_blame) return "";
  const LineCounts& line = e.lines[e.to_blame->line];
  if (line.avoidable() == 0) {
    return fmt::format("No access of it could take fewer L1 cycles: {} in all.",
                       with_commas(line.cost()));
  }
  const std::uint64_t others = e.cost() - line.avoidable();
  return fmt::format(
      "Ideal: {} instead of {}. All lines together would take {} instead of {} ({}).",
      warpladder::count_of(static_cast<std::int64_t>(line.ideal_cost()), "L1 cycle"),
      with_commas(line.cost()), with_commas(others), with_commas(e.cost()),
      change_text(e.cost(), others));
}

std::string intensity_sentence(const Explanation& e) {
  std::vector<std::string> parts;
  if (const double n = e.fmas_per_sector_byte(); n > 0) {
    parts.push_back(fmt::format("{:.3g} FMAs for a byte of global sectors", n));
  }
  if (const double n = e.fmas_per_shared_wavefront(); n > 0) {
    parts.push_back(fmt::format("{:.3g} FMAs for a shared wavefront", n));
  }
  if (e.totals.tensor_fmas && e.totals.bulk_bytes) {
    parts.push_back(fmt::format(
        "{:.3g} tensor core FMAs for a byte that the copy engine brings",
        static_cast<double>(e.totals.tensor_fmas) / static_cast<double>(e.totals.bulk_bytes)));
  }
  if (parts.empty() && e.flops > 0) {
    return "Intensity: unknown, this rung multiplies and adds apart, and only FMAs are counted.";
  }
  if (parts.empty()) return "Intensity: no FMAs, it moves bytes.";
  return fmt::format("Intensity: {}.", fmt::join(parts, ", "));
}

std::vector<const executor::KernelCounts*> distinct_launches(const Explanation& e) {
  std::vector<const executor::KernelCounts*> distinct;
  for (const executor::KernelCounts& k : e.launches) {
    const auto is_alike = [&](const executor::KernelCounts* other) {
      return other->kernel == k.kernel && other->block.count() == k.block.count() &&
             other->dynamic_shared_bytes == k.dynamic_shared_bytes;
    };
    if (std::ranges::none_of(distinct, is_alike)) distinct.push_back(&k);
  }
  return distinct;
}

Occupancy occupancy_of(const executor::KernelCounts& launch, const Explanation& e, const Gpu& gpu) {
  KernelResources resources{static_cast<unsigned>(launch.block.count()),
                            launch.dynamic_shared_bytes, std::nullopt};
  if (const CompiledResources* compiled = e.compiled_of(launch.kernel, gpu)) {
    resources.shared_bytes += compiled->static_shared_bytes;
    resources.registers = compiled->registers;
  }
  return occupancy(resources, gpu.sm);
}

std::string occupancy_sentence(const executor::KernelCounts& launch, const Explanation& e) {
  const Occupancy o = occupancy_of(launch, e, *e.gpu);
  const CompiledResources* const compiled = e.compiled_of(launch.kernel, *e.gpu);
  const std::string known =
      compiled ? fmt::format(
                     "It takes {} registers a thread and {} bytes of static shared memory, "
                     "says {}.",
                     compiled->registers, compiled->static_shared_bytes, compiled->source)
               : "Registers and static shared memory are unknown here and may allow fewer; "
                 "--cubin FILE tells them.";
  return fmt::format(
      "Occupancy of {}: {}{} block{} of {} threads, {} of {} warps on an SM ({:.0f} "
      "%), limited by {}. {}",
      short_kernel_name(launch.kernel), compiled ? "" : "at most ", o.blocks,
      o.blocks == 1 ? "" : "s", launch.block.count(), o.warps, o.most_warps, 100 * o.share(),
      name(o.limiter), known);
}

std::string roof_sentence(const Explanation& e, const std::vector<Roof>& roofs) {
  const Roof* const binding = e.binding(roofs);
  return fmt::format(
      "The lowest roof: {}. Roofs of L1 count the loads of the source. nvcc may merge loads, so "
      "they neither limit a run nor rank kernels. Latency and occupancy make a run slower.",
      binding ? binding->name : e.peak().name);
}

std::string what_changed(const Explanation& before, const Explanation& after) {
  struct Changed {
    std::string text;
    double size;
  };
  constexpr std::size_t kMost = 3;
  std::vector<Changed> changes;
  for (const TotalField& field : total_fields()) {
    const std::uint64_t a = before.totals.*field.value, b = after.totals.*field.value;
    if (change_text(a, b).empty()) continue;
    const double size = a && b ? std::abs(std::log(static_cast<double>(b) / a)) : HUGE_VAL;
    changes.push_back({change_of(field.name, a, b), size});
  }
  const std::uint64_t cost = before.cost(), new_cost = after.cost();
  if (changes.empty() && change_text(cost, new_cost).empty()) {
    return fmt::format("What changed: nothing that is counted, {} asks for what {} does.",
                       after.rung, before.rung);
  }
  std::ranges::stable_sort(changes, std::greater<>(), &Changed::size);
  std::vector<std::string> told;
  for (std::size_t i = 0; i < changes.size() && i < kMost; ++i) told.push_back(changes[i].text);
  const std::string cycles = change_text(cost, new_cost).empty()
                                 ? fmt::format("as many L1 cycles ({})", with_commas(cost))
                                 : change_of("L1 cycles", cost, new_cost);
  return fmt::format("What changed from {} to {}: {}{}{}{}.", before.rung, after.rung, cycles,
                     told.empty() ? "" : "; ", fmt::join(told, ", "),
                     changes.size() > kMost ? fmt::format(" and {} more", changes.size() - kMost)
                                            : ", and nothing else");
}

}  // namespace warpladder::lab
