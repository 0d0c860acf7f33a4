#include "explain_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/with_commas.hpp"
#include "lab/explain_words.hpp"
#include "lab/gpus.hpp"
#include "lab/kernel_name.hpp"
#include "lab/known_resources.hpp"
#include "lab/ncu_metrics.hpp"

namespace warpladder::app {
namespace {

using executor::AccessCounts;
using executor::MemorySpace;
using lab::Explanation;
using lab::LineCounts;

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
      doings.push_back({lab::access_text(a), with_commas(a.requests),
                        ratio_text(a.lanes, a.requests),
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

    std::string source = line.file == main_file ? std::to_string(line.line) : lab::place_of(line);
    if (const std::string code = line.text.substr(0, line.text.find("  //")); !code.empty()) {
      source += fmt::format("\n`{}`", code);
    }
    std::vector<Cell> row{source};
    for (std::size_t column = 0; column < 6; ++column) {
      std::string text;
      for (const auto& doing : doings) text += (text.empty() ? "" : "\n") + doing[column];
      row.emplace_back(std::move(text));
    }
    row.emplace_back(lab::share_text(line.cost(), e));
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
    accesses.push_back({{"space", lab::name(a.space)},
                        {"kind", lab::name(a.kind)},
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

nlohmann::json as_json(const executor::KernelCounts& k, const Explanation& e) {
  const lab::Occupancy o = lab::occupancy_of(k, e, *e.gpu);
  nlohmann::json kernel{{"kernel", k.kernel},
                        {"grid", {k.grid.x, k.grid.y, k.grid.z}},
                        {"block", {k.block.x, k.block.y, k.block.z}},
                        {"dynamic_shared_bytes", k.dynamic_shared_bytes},
                        {"registers", nullptr},
                        {"static_shared_bytes", nullptr},
                        {"occupancy",
                         {{"blocks", o.blocks},
                          {"warps", o.warps},
                          {"of_warps", o.most_warps},
                          {"limiter", lab::name(o.limiter)}}}};
  if (const lab::CompiledResources* compiled = e.compiled_of(k.kernel, *e.gpu)) {
    kernel["registers"] = compiled->registers;
    kernel["static_shared_bytes"] = compiled->static_shared_bytes;
  }
  return kernel;
}

}  // namespace

std::string gpu_keys() {
  std::vector<std::string> keys;
  for (const lab::Gpu& gpu : lab::gpus()) keys.emplace_back(gpu.key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

void GpuFlag::add_to(CLI::App& verb) {
  verb.add_option("--gpu", keys,
                  fmt::format("Whose roofs and occupancy: {} (default: {})", gpu_keys(),
                              lab::default_gpu().key))
      ->type_name("NAME[,NAME…]")
      ->delimiter(',')
      ->allow_extra_args(false);
}

std::vector<const lab::Gpu*> GpuFlag::given() const {
  std::vector<const lab::Gpu*> gpus;
  for (const std::string& key : keys) gpus.push_back(&lab::find_gpu(key));
  return gpus;
}

void CubinFlag::add_to(CLI::App& verb) {
  verb.add_option("--cubin", path, "Registers and static shared memory, from nvcc -cubin")
      ->type_name("FILE");
}

void CubinFlag::add_resources_to(std::vector<lab::Explanation*> explanations) const {
  if (path.empty()) return;
  const std::vector<CubinKernel> kernels = read_cubin(path, "--cubin");
  bool found = false;
  for (lab::Explanation* e : explanations) {
    found |= lab::add_resources(*e, kernels, in_quotes(path));
  }
  if (!found) throw_bad_input(file_subject(path, "--cubin") + " holds no kernel that was launched");
}

void HtmlFlag::add_to(CLI::App& verb) {
  add_output_file(verb, "--html", path,
                  "Write a page: source, maps of banks and sectors, occupancy, roofs");
}

void HtmlFlag::write(lab::ExplainPage page, const GpuFlag& gpu) const {
  if (path.empty()) return;
  page.gpus = gpu.given();
  write_output(path, lab::html(page), "--html");
}

std::string accesses_text(const AccessCounts& a) {
  return fmt::format("{} {}s of {} B", lab::name(a.space), lab::name(a.kind), a.bytes);
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
  print_line(lab::blame_sentence(e));
  if (line.avoidable()) print_line(lab::ideal_sentence(e));
  if (const int number = exercise_on(line, e.cost())) {
    print_line(fmt::format("The course has a page on this, and 'warpladder exercise {}'.", number));
  }
}

void print_side_by_side(const Explanation& a, const Explanation& b) {
  TextTable table({{"in all"},
                   {a.rung, Align::right},
                   {b.rung, Align::right},
                   {"second ÷ first", Align::right}});
  const auto add = [&](const char* what, std::uint64_t of_a, std::uint64_t of_b) {
    if (of_a || of_b) {
      table.add_row({what, with_commas(of_a), with_commas(of_b), ratio_text(of_b, of_a)});
    }
  };
  for (const lab::TotalField& field : lab::total_fields()) {
    add(field.name, a.totals.*field.value, b.totals.*field.value);
  }
  add("L1 cycles", a.cost(), b.cost());
  if (a.lanes_per_global_load() > 0 && b.lanes_per_global_load() > 0) {
    table.add_rule();
    table.add_row({"lanes in use per global load", mean_text(a.lanes_per_global_load()),
                   mean_text(b.lanes_per_global_load()), ""});
    table.add_row({"sectors per global load", mean_text(a.sectors_per_global_load()),
                   mean_text(b.sectors_per_global_load()), ""});
  }
  print(table);
  print_line(lab::what_changed(a, b));
  print_line("");
}

void print_counted(const Explanation& e, bool with_totals) {
  if (with_totals) {
    print_totals(e);
    print_line("");
  }
  print_lines(e);
}

namespace {

std::string occupancy_text(const lab::Occupancy& o) {
  if (o.blocks == 0) return lab::kRefusedBlock;
  return fmt::format("{} of {} warps ({:.0f} %), by {}", o.warps, o.most_warps, 100 * o.share(),
                     lab::name(o.limiter));
}

// What depends on the GPU.
void add_gpu(const Explanation& e, nlohmann::json& report) {
  report["gpu"] = e.gpu->key;
  const lab::Peak peak = e.peak();
  report["peak"] = {{"name", peak.name}, {"flops_per_s", peak.flops_per_s}};
  for (const char* list : {"kernels", "roofs"}) report[list] = nlohmann::json::array();
  for (const executor::KernelCounts& k : e.launches) report["kernels"].push_back(as_json(k, e));
  for (const lab::Roof& roof : e.roofs()) {
    report["roofs"].push_back({{"name", roof.name},
                               {"bytes", roof.bytes},
                               {"bytes_per_s", roof.bytes_per_s},
                               {"ceiling_flops_per_s", e.ceiling(roof)}});
  }
}

}  // namespace

void print_gpus(const Explanation& e, const std::vector<const lab::Gpu*>& gpus) {
  if (gpus.size() < 2) return;
  std::vector<Column> columns{{"GPU"}, {"lowest roof"}, {"µs by counts", Align::right}};
  if (e.flops > 0) columns.push_back({lab::kRoofSpeed, Align::right});
  columns.push_back({"occupancy, and its limit"});
  TextTable table(columns);
  const std::vector<const executor::KernelCounts*> launches = lab::distinct_launches(e);
  for (const lab::Gpu* gpu : gpus) {
    std::vector<Cell> row{gpu->name};
    if (const std::string why_not = e.why_not_on(*gpu); !why_not.empty()) {
      row.emplace_back("cannot run it: " + why_not);
      row.resize(columns.size(), "");
      table.add_row(std::move(row));
      continue;
    }
    const Explanation there = e.on(*gpu);
    const std::vector<lab::Roof> roofs = there.roofs();
    const lab::Roof* const binding = there.binding(roofs);
    const double seconds = there.seconds_by_counts();
    row.emplace_back(binding ? binding->name : there.peak().name);
    row.emplace_back(fmt::format("{:.3g}", seconds * 1e6));
    if (e.flops > 0) row.emplace_back(fmt::format("{:.3g}", e.flops / seconds * 1e-12));
    std::string occupancy;
    for (const executor::KernelCounts* k : launches) {
      if (!occupancy.empty()) occupancy += "\n";
      if (launches.size() > 1) occupancy += lab::short_kernel_name(k->kernel) + ": ";
      occupancy += occupancy_text(lab::occupancy_of(*k, there, *gpu));
    }
    row.emplace_back(std::move(occupancy));
    table.add_row(std::move(row));
  }
  print_line("");
  print(table);
  print_line(fmt::format("The launches are those on the first GPU, {}.", e.gpu->name));
}

nlohmann::json explanation_json(const Explanation& e, const std::vector<const lab::Gpu*>& gpus) {
  nlohmann::json report{{"op", e.op},
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
  add_gpu(e, report);
  report["lines"] = nlohmann::json::array();
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
  for (const lab::Gpu* gpu : gpus) {
    if (gpus.size() < 2) break;
    nlohmann::json& there = report["gpus"].emplace_back();
    const std::string why_not = e.why_not_on(*gpu);
    add_gpu(e.on(*gpu), there);
    if (!why_not.empty()) there["why_not"] = why_not;
  }
  return report;
}

}  // namespace warpladder::app
