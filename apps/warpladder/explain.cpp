#include "lab/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "base/with_commas.hpp"
#include "lab/gpus.hpp"
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

constexpr double kLongSeconds = 20;  // worth saying beforehand

constexpr const char* kDefaultTimeout = "60";

struct ExplainFlags {
  std::optional<std::string> first, second, shape, variant, matrix, gpu;
  std::string timeout = kDefaultTimeout;
  bool brief = false, terms = false;
  DeviceFlags device;
  JsonFlag json;
};

std::string ratio_text(std::uint64_t a, std::uint64_t b) {
  return b ? fmt::format("{:.3g}", static_cast<double>(a) / static_cast<double>(b)) : "";
}

std::string mean_text(double mean) { return fmt::format("{:.3g}", mean); }

// "5.2 %" of the rung's L1 cycles.
std::string share_text(std::uint64_t cycles, const Explanation& e) {
  if (cycles == 0) return "";
  return fmt::format("{:.1f} %", 100 * static_cast<double>(cycles) / static_cast<double>(e.cost()));
}

std::string dims(const runtime::Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

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

std::string place_of(const LineCounts& line) {
  return fmt::format("{}:{}", std::filesystem::path(line.file).filename().string(), line.line);
}

void print_headline(const Explanation& e) {
  print_line(fmt::format("{}{}{}: {}", e.full_name(), e.variant.empty() ? "" : " " + e.variant,
                         e.shape.empty() ? "" : fmt::format(" at {}", fmt::join(e.shape, "x")),
                         e.idea));
  for (const executor::KernelCounts& k : e.launches) {
    print_line(fmt::format("kernel {}: grid {}, block {}, {} bytes of dynamic shared memory",
                           lab::short_kernel_name(k.kernel), dims(k.grid), dims(k.block),
                           k.dynamic_shared_bytes));
  }
  if (e.launches.empty()) print_line("no kernel was launched: there is nothing to compute");
  print_line("");
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

void print_totals_side_by_side(const Explanation& a, const Explanation& b) {
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
  print_line("");
}

// One row a line of source; what it does stands in it line by line.
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

std::string prediction_sentence(const Explanation& e) {
  if (!e.predicted && e.shape.empty()) {
    return "Prediction: none for this problem, rungs make theirs for a shape.";
  }
  if (!e.predicted) return "Prediction: this rung makes none.";
  if (e.prediction_holds())
    return "Prediction: holds, every total that the rung predicts is as it says.";
  std::vector<std::string> differences;
  for (const lab::TotalField& field : lab::total_fields()) {
    const std::uint64_t counted = e.totals.*field.value, predicted = (*e.predicted).*field.value;
    if (counted != predicted && predicted != ladder::kNotPredicted) {
      differences.push_back(fmt::format("{} {} where {} were predicted", with_commas(counted),
                                        field.name, with_commas(predicted)));
    }
  }
  return fmt::format(
      "Prediction: differs by {}. It is made for sizes that are multiples of the "
      "rung's tile.",
      fmt::join(differences, ", "));
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
  if (parts.empty()) return "Intensity: no FMAs, this rung moves bytes.";
  return fmt::format("Intensity: {}.", fmt::join(parts, ", "));
}

void print_roofs(const Explanation& e) {
  const std::vector<lab::Roof> roofs = e.roofs();
  TextTable table({{fmt::format("roof, {}", e.gpu->name)},
                   {"bytes", Align::right},
                   {"FLOP/byte", Align::right},
                   {"TFLOP/s at most", Align::right}});
  for (const lab::Roof& roof : roofs) {
    const bool counts = roof.bytes > 0 && e.flops > 0;
    table.add_row({roof.name, with_commas(static_cast<std::uint64_t>(roof.bytes)),
                   counts ? fmt::format("{:.3g}", e.flops / roof.bytes) : "",
                   counts ? fmt::format("{:.3g}", e.ceiling(roof) * 1e-12) : ""});
  }
  const lab::Peak peak = e.peak();
  table.add_row({peak.name, "", "", fmt::format("{:.3g}", peak.flops_per_s * 1e-12)});
  print(table);
  const lab::Roof* const binding = e.binding(roofs);
  print_line(fmt::format(
      "The lowest roof: {}. Roofs of L1 take the loads as the source has them. Where nvcc merges "
      "loads, a run is faster than that. Latency and occupancy make it slower.",
      binding ? binding->name : peak.name));
}

void print_blame(const Explanation& e) {
  if (!e.to_blame) return;
  const LineCounts& line = e.lines[e.to_blame->line];
  const std::string avoidable = share_text(line.avoidable(), e);
  print_line(fmt::format(
      "Line to blame: {} ({} of the L1 cycles{}): {}.", place_of(line), share_text(line.cost(), e),
      avoidable.empty() ? "" : ", " + avoidable + " avoidable", e.to_blame->sentence));
}

// Of a brief report the sentences alone.
void print_one(const Explanation& e, bool with_totals, bool is_brief) {
  print_headline(e);
  if (e.lines.empty()) return;
  print_blame(e);
  print_line(prediction_sentence(e));
  print_line(intensity_sentence(e));
  for (const executor::KernelCounts& k : e.launches) print_line(occupancy_sentence(k, *e.gpu));
  if (is_brief) return;
  print_line("");
  if (with_totals) {
    print_totals(e);
    print_line("");
  }
  print_lines(e);
  print_line("");
  print_roofs(e);
}

nlohmann::json as_json(const ladder::Totals& totals) {
  nlohmann::json object;
  for (const lab::TotalField& field : lab::total_fields()) {
    // What a prediction leaves open is null.
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

nlohmann::json as_json(const Explanation& e) {
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

// On standard error also where that is no terminal: a log should say why nothing happens.
void announce_if_long(const std::string& rung, double seconds) {
  if (seconds <= kLongSeconds) return;
  end_progress();
  fmt::print(stderr, "warpladder: counting {} may take {:.0f} s\n", rung, seconds);
}

// One rung, or two of one operator.
std::vector<lab::Selected> rungs_of(const ExplainFlags& flags) {
  if (!flags.first) throw_bad_input("explain: OP/RUNG is required, or --terms");
  std::vector<lab::Selected> rungs{lab::select_one(*flags.first)};
  if (!flags.second) return rungs;
  rungs.push_back(lab::select_one(*flags.second));
  if (rungs[1].op == rungs[0].op) return rungs;
  throw_bad_input(
      fmt::format("{} and {} are rungs of different operators; two rungs of one can be compared",
                  *flags.first, *flags.second));
}

std::vector<Explanation> explanations_of(const ExplainFlags& flags) {
  const std::vector<lab::Selected> rungs = rungs_of(flags);
  const ops::Operator& op = *rungs[0].op;
  if (flags.matrix) {
    require_takes_matrix(op, *flags.matrix);
    require_alone("--matrix",
                  {{"--shape", flags.shape.has_value()}, {"--variant", flags.variant.has_value()}});
  }
  // A matrix has no shape; it stands in the variant's place.
  const std::vector<std::int64_t> shape =
      flags.matrix  ? std::vector<std::int64_t>{}
      : flags.shape ? parse_shape(*flags.shape, op.default_shape().size(), "--shape")
                    : op.default_shape();
  const std::string variant =
      flags.matrix ? *flags.matrix : flags.variant.value_or(op.variants().front());

  const lab::Progress progress = progress_on_stderr();
  lab::ExplainOptions options{.threads = flags.device.threads,
                              .block_limit_s = seconds_of_timeout(flags.timeout)};
  if (flags.gpu) options.gpu = &lab::find_gpu(*flags.gpu);
  std::vector<Explanation> explained;
  for (const lab::Selected& selected : rungs) {
    const std::string rung = selected.rung->full_name();
    progress("counting " + rung, static_cast<double>(explained.size()) / rungs.size());
    options.announce = [&](double seconds) { announce_if_long(rung, seconds); };
    explained.push_back(lab::explain(selected, shape, variant, options));
  }
  end_progress();
  return explained;
}

void explain(const ExplainFlags& flags, const Context& context) {
  if (flags.terms) return print_terms();
  const std::vector<Explanation> explained = explanations_of(flags);
  const bool is_pair = explained.size() == 2;
  if (is_pair) print_totals_side_by_side(explained[0], explained[1]);
  for (const Explanation& e : explained) {
    print_one(e, !is_pair, flags.brief);
    if (is_pair && &e == &explained[0]) print_line("");
  }
  if (flags.json.asked()) {
    nlohmann::json report{{"verb", "explain"}, {"rungs", nlohmann::json::array()}};
    for (const Explanation& e : explained) report["rungs"].push_back(as_json(e));
    flags.json.write(context, std::move(report));
  }
}

std::string gpu_help() {
  std::vector<std::string> keys;
  for (const lab::Gpu& gpu : lab::gpus()) keys.emplace_back(gpu.key);
  return fmt::format("Whose roofs and occupancy: {} (default: {})", fmt::join(keys, ", "),
                     lab::default_gpu().key);
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("explain", "Count what rungs ask of the machine, line by line");
  const auto flags = std::make_shared<ExplainFlags>();
  verb->add_option("OP/RUNG", flags->first, "The rung")->type_name("");
  verb->add_option("OP/RUNG2", flags->second, "A second one, to compare with")->type_name("");
  verb->add_option("--shape", flags->shape, "The problem (default: one that shows its counts soon)")
      ->type_name("MxNxK");
  verb->add_option("--variant", flags->variant, "Of the operator (default: the first in list)")
      ->type_name("NAME");
  verb->add_option("--matrix", flags->matrix, matrix_help())->type_name("FILE|SPEC");
  verb->add_option("--gpu", flags->gpu, gpu_help())->type_name("NAME");
  verb->add_flag("--brief", flags->brief, "Print the sentences, not the tables");
  verb->add_flag("--terms", flags->terms, "Print what the words of all reports mean, alone");
  verb->add_option("--timeout", flags->timeout, timeout_help(kDefaultTimeout))
      ->type_name("SECONDS");
  flags->device.add_to(*verb);
  verb->remove_option(verb->get_option("--device"));  // only the CPU's executor counts
  flags->json.add_to(*verb);
  verb->callback([flags, &context] { explain(*flags, context); });
}

}  // namespace warpladder::app
