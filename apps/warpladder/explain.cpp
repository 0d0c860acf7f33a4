#include "lab/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "base/with_commas.hpp"
#include "explain_report.hpp"
#include "lab/gpus.hpp"
#include "lab/kernel_name.hpp"
#include "line_code_report.hpp"
#include "nvcc_source.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using lab::Explanation;

constexpr double kLongSeconds = 20;  // worth saying beforehand

constexpr const char* kDefaultTimeout = "60";

struct ExplainFlags {
  std::optional<std::string> first, second, shape, variant, matrix, gpu, sass;
  std::string timeout = kDefaultTimeout;
  bool brief = false, terms = false;
  DeviceFlags device;
  JsonFlag json;
};

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

// A brief report has the sentences only.
void print_one(const Explanation& e, bool with_totals, bool is_brief) {
  print_headline(e);
  if (e.lines.empty()) return;
  print_blame(e);
  print_line(prediction_sentence(e));
  print_line(intensity_sentence(e));
  for (const executor::KernelCounts& k : e.launches) print_line(occupancy_sentence(k, *e.gpu));
  if (is_brief) return;
  print_line("");
  print_counted(e, with_totals);
  print_line("");
  print_roofs(e);
}

// Printed even if standard error is no terminal, so that a log explains the wait.
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
  // A matrix has no shape, and is the variant.
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
  if (flags.sass) require_architecture("--sass", *flags.sass);
  const std::vector<Explanation> explained = explanations_of(flags);
  std::vector<lab::LineCode> compiled;
  for (const Explanation& e : explained) {
    if (flags.sass) compiled.push_back(line_code_of(e, *flags.sass));
  }
  const bool is_pair = explained.size() == 2;
  if (is_pair) print_totals_side_by_side(explained[0], explained[1]);
  for (std::size_t i = 0; i < explained.size(); ++i) {
    print_one(explained[i], !is_pair, flags.brief);
    if (flags.sass) print_line_code(explained[i], compiled[i]);
    if (is_pair && i == 0) print_line("");
  }
  if (flags.json.asked()) {
    nlohmann::json report{{"verb", "explain"}, {"rungs", nlohmann::json::array()}};
    for (const Explanation& e : explained) report["rungs"].push_back(explanation_json(e));
    for (std::size_t i = 0; i < compiled.size(); ++i) {
      report["nvcc"] = compiled[i].version;
      report["rungs"][i]["machine_code"] = line_code_json(compiled[i]);
    }
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
  verb->add_option("--sass", flags->sass,
                   "Also what each line became in machine code for this GPU, as in 90a: needs nvcc "
                   "and the sources")
      ->type_name("ARCH");
  verb->add_flag("--brief", flags->brief, "Print the sentences, not the tables");
  verb->add_flag("--terms", flags->terms, "Print what the words of all reports mean, alone");
  verb->add_option("--timeout", flags->timeout, timeout_help(kDefaultTimeout))
      ->type_name("SECONDS");
  flags->device.add_to(*verb);
  verb->remove_option(verb->get_option("--device"));  // only the CPU's executor counts
  flags->json.add_to(*verb);
  verb->footer(
      "warpladder explain FILE.cu counts a CUDA program's kernels instead; its --help says how.");
  verb->callback([flags, &context] { explain(*flags, context); });
}

}  // namespace warpladder::app
