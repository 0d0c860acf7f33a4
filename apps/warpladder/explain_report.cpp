#include "explain_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/with_commas.hpp"
#include "lab/kernel_name.hpp"
#include "lab/ncu_metrics.hpp"
#include "lab/occupancy.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using executor::AccessCounts;
using executor::AccessKind;
using executor::MemorySpace;
using lab::Explanation;
using lab::LineCounts;

// "5.2 %" of the rung's L1 cycles.
std::string share_text(std::uint64_t cycles, const Explanation& e) {
  if (cycles == 0) return "";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(cycles) / static_cast<double>(e.cost()));
}

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

void print_totals(const Explanation& e) {
  TextTable table({{"in all"},
                   {"counted", Align::right},
                   {"ideal", Align::right},
                   {"counted ÷ ideal", Align::right}});
  const auto add = [&](const char* what, std::uint64_t counted, std::uint64_t ideal) {
    if (counted == 0) return;
    const Emphasis emphasis = counted > ideal ? Emphasis::bad : Emphasis::none;
    table.add_row(
        {what, with_commas(counted), with_commas(ideal), {ratio_text(counted, ideal), emphasis}});
  };
  for (const lab::TotalField& field : lab::total_fields()) {
    add(field.name, e.totals.*field.value, e.ideal.*field.value);
  }
  add("L1 cycles", e.cost(), e.ideal_cost());
  if (e.lanes_per_global_load() > 0) {
    table.add_rule();
    table.add_row({"lanes in use per global load", mean_text(e.lanes_per_global_load()), "32", ""});
    table.add_row({"sectors per global load", mean_text(e.sectors_per_global_load()),
                   mean_text(e.ideal_sectors_per_global_load()), ""});
  }
  print(table);
}

// One row per source line; its cells have one line per kind of access.
void print_lines(const Explanation& e) {
  const std::string& main_file = e.lines.front().file;
  print_line(fmt::format("{}, the costliest line first:", main_file));
  TextTable table({{"line"},
                   {"does", Align::right},
                   {"times", Align::right},
                   {"lanes", Align::right},
                   {"actual", Align::right},
                   {"ideal", Align::right},
                   {"worst", Align::right},
                   {"share", Align::right}});
  for (const LineCounts& line : e.lines) {
    std::vector<std::vector<std::string>> doings;
    for (const AccessCounts& a : line.accesses) {
      const bool global = a.space == MemorySpace::global;
      doings.push_back({fmt::format("{} {} {} B", name(a.space), name(a.kind), a.bytes),
                        with_commas(a.requests), ratio_text(a.lanes, a.requests),
                        ratio_text(global ? a.sectors : a.wavefronts, a.requests),
                        ratio_text(global ? a.ideal_sectors : a.ideal_wavefronts, a.requests),
                        std::to_string(a.worst)});
    }
    const auto add_event = [&](const char* what, std::uint64_t times) {
      if (times) doings.push_back({what, with_commas(times), "", "", "", ""});
    };
    add_event("FMAs", line.fmas);
    add_event("barriers", line.barriers);
    add_event("shuffles", line.shuffles);
    add_event("copy engine bytes", line.bulk_bytes);
    add_event("tensor core FMAs", line.tensor_fmas);

    std::string source = line.file == main_file ? std::to_string(line.line) : place_of(line);
    if (const std::string code = line.text.substr(0, line.text.find("  //")); !code.empty()) {
      source += fmt::format("\n`{}`", code);
    }
    std::vector<Cell> row{source};
    for (std::size_t column = 0; column < 6; ++column) {
      std::string text;
      for (const auto& doing : doings) text += (text.empty() ? "" : "\n") + doing[column];
      row.emplace_back(std::move(text));
    }
    row.emplace_back(share_text(line.cost(), e));
    table.add_rule();
    table.add_row(std::move(row));
  }
  print(table);
  print_line(
      "Per request: active lanes, then sectors of 32 bytes (global) or wavefronts (shared): "
      "actual, "
      "ideal, worst. Share: of the L1 cycles, 1 for a request or for 4 sectors (global), 1 for a "
      "wavefront (shared).");
}

nlohmann::json as_json(const ladder::Totals& totals) {
  nlohmann::json object;
  for (const lab::TotalField& field : lab::total_fields()) {
    // Totals without a prediction are null.
    if (totals.*field.value == ladder::kNotPredicted) {
      object[field.key] = nullptr;
    } else {
      object[field.key] = totals.*field.value;
    }
  }
  return object;
}

nlohmann::json as_json(const LineCounts& line) {
  nlohmann::json accesses = nlohmann::json::array();
  for (const AccessCounts& a : line.accesses) {
    accesses.push_back({{"space", name(a.space)},
                        {"kind", name(a.kind)},
                        {"bytes", a.bytes},
                        {"requests", a.requests},
                        {"lanes", a.lanes},
                        {"sectors", a.sectors},
                        {"ideal_sectors", a.ideal_sectors},
                        {"wavefronts", a.wavefronts},
                        {"ideal_wavefronts", a.ideal_wavefronts},
                        {"worst", a.worst}});
  }
  return {{"file", line.file},
          {"line", line.line},
          {"text", line.text},
          {"accesses", accesses},
          {"fmas", line.fmas},
          {"barriers", line.barriers},
          {"shuffles", line.shuffles},
          {"bulk_bytes", line.bulk_bytes},
          {"tensor_fmas", line.tensor_fmas},
          {"l1_cycles", line.cost()},
          {"ideal_l1_cycles", line.ideal_cost()}};
}

nlohmann::json as_json(const executor::KernelCounts& k, const lab::Gpu& gpu) {
  const lab::Occupancy o = lab::occupancy(
      {static_cast<unsigned>(k.block.count()), k.dynamic_shared_bytes, std::nullopt}, gpu.sm);
  return {{"kernel", k.kernel},
          {"grid", {k.grid.x, k.grid.y, k.grid.z}},
          {"block", {k.block.x, k.block.y, k.block.z}},
          {"dynamic_shared_bytes", k.dynamic_shared_bytes},
          {"occupancy_without_registers",
           {{"blocks", o.blocks}, {"warps", o.warps}, {"limiter", lab::name(o.limiter)}}}};
}

}  // namespace

std::string place_of(const LineCounts& line) {
  return fmt::format("{}:{}", std::filesystem::path(line.file).filename().string(), line.line);
}

std::string accesses_text(const AccessCounts& a) {
  return fmt::format("{} {}s of {} B", name(a.space), name(a.kind), a.bytes);
}

std::string ratio_text(std::uint64_t a, std::uint64_t b) {
  return b ? fmt::format("{:.3g}", static_cast<double>(a) / static_cast<double>(b)) : "";
}

std::string mean_text(double mean) { return fmt::format("{:.3g}", mean); }

std::string dims(const runtime::Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

namespace {

// The exercise on what most of the line's avoidable cycles come from: bank conflicts or scattered
// lanes. 0: they are less than a tenth of all cycles.
int exercise_on(const LineCounts& line, std::uint64_t all_cycles) {
  if (line.avoidable() * 10 < all_cycles) return 0;
  const auto waste = [](const AccessCounts& a) {
    return lab::l1_cycles(a) - lab::ideal_l1_cycles(a);
  };
  const auto worst = std::ranges::max_element(line.accesses, {}, waste);
  return worst->space == MemorySpace::shared ? 3 : 2;
}

}  // namespace

void print_blame(const Explanation& e) {
  if (!e.to_blame) return;
  const LineCounts& line = e.lines[e.to_blame->line];
  const std::string avoidable = share_text(line.avoidable(), e);
  print_line(fmt::format(
      "Line to blame: {} ({} of the L1 cycles{}): {}.", place_of(line), share_text(line.cost(), e),
      avoidable.empty() ? "" : ", " + avoidable + " avoidable", e.to_blame->sentence));
  if (const int number = exercise_on(line, e.cost())) {
    print_line(fmt::format("The course has a page on this, and 'warpladder exercise {}'.", number));
  }
}

void print_counted(const Explanation& e, bool with_totals) {
  if (with_totals) {
    print_totals(e);
    print_line("");
  }
  print_lines(e);
}

std::string occupancy_sentence(const executor::KernelCounts& k, const lab::Gpu& gpu) {
  const auto threads = static_cast<unsigned>(k.block.count());
  const lab::Occupancy o = lab::occupancy({threads, k.dynamic_shared_bytes, std::nullopt}, gpu.sm);
  return fmt::format(
      "Occupancy of {}: at most {} blocks of {} threads, {} of {} warps on an SM ({:.0f} %), "
      "limited by {}. Registers and static shared memory may allow fewer; only nvcc knows them.",
      lab::short_kernel_name(k.kernel), o.blocks, threads, o.warps, o.most_warps, 100 * o.share(),
      lab::name(o.limiter));
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

nlohmann::json explanation_json(const Explanation& e) {
  nlohmann::json report{{"gpu", e.gpu->key},
                        {"op", e.op},
                        {"rung", e.rung},
                        {"variant", e.variant},
                        {"shape", e.shape},
                        {"flops", e.flops},
                        {"minimal_bytes", e.minimal_bytes},
                        {"l1_cycles", e.cost()},
                        {"global_load",
                         {{"lanes", e.lanes_per_global_load()},
                          {"sectors", e.sectors_per_global_load()},
                          {"ideal_sectors", e.ideal_sectors_per_global_load()}}},
                        {"totals", as_json(e.totals)},
                        {"ideal_totals", as_json(e.ideal)}};
  for (const char* list : {"kernels", "lines", "roofs"}) report[list] = nlohmann::json::array();
  for (const executor::KernelCounts& k : e.launches)
    report["kernels"].push_back(as_json(k, *e.gpu));
  for (const LineCounts& line : e.lines) report["lines"].push_back(as_json(line));
  if (e.predicted) {
    report["prediction"] = {{"totals", as_json(*e.predicted)}, {"holds", e.prediction_holds()}};
  }
  if (e.to_blame) {
    const LineCounts& line = e.lines[e.to_blame->line];
    report["line_to_blame"] = {
        {"file", line.file}, {"line", line.line}, {"sentence", e.to_blame->sentence}};
  }
  for (const lab::NcuMetric& metric : lab::ncu_metrics(e.launches)) {
    report["ncu_metrics"][metric.name] = metric.value;
  }
  const lab::Peak peak = e.peak();
  report["peak"] = {{"name", peak.name}, {"flops_per_s", peak.flops_per_s}};
  for (const lab::Roof& roof : e.roofs()) {
    report["roofs"].push_back({{"name", roof.name},
                               {"bytes", roof.bytes},
                               {"bytes_per_s", roof.bytes_per_s},
                               {"ceiling_flops_per_s", e.ceiling(roof)}});
  }
  return report;
}

}  // namespace warpladder::app
