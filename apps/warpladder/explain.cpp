#include "lab/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/parse.hpp"
#include "base/with_commas.hpp"
#include "explain_report.hpp"
#include "lab/explain_words.hpp"
#include "lab/kernel_name.hpp"
#include "lab/known_resources.hpp"
#include "lab/ncu_compare.hpp"
#include "line_code_report.hpp"
#include "ncu_view.hpp"
#include "nvcc_source.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using lab::Explanation;

constexpr double kLongSeconds = 20;  // worth saying beforehand

constexpr const char* kDefaultTimeout = "60";

struct ExplainFlags {
  std::optional<std::string> first, second, shape, variant, matrix, sass;
  GpuFlag gpu;
  CubinFlag cubin;
  HtmlFlag html;
  std::string timeout = kDefaultTimeout;
  bool brief = false, terms = false;
  std::optional<std::string> metric;
  NcuFlag ncu;
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
                   {lab::kRoofSpeed, Align::right}});
  for (const lab::Roof& roof : roofs) {
    const bool counts = roof.bytes > 0 && e.flops > 0;
    table.add_row({roof.name, with_commas(static_cast<std::uint64_t>(roof.bytes)),
                   counts ? fmt::format("{:.3g}", e.flops / roof.bytes) : "",
                   counts ? fmt::format("{:.3g}", e.ceiling(roof) * 1e-12) : ""});
  }
  const lab::Peak peak = e.peak();
  table.add_row({peak.name, "", "", fmt::format("{:.3g}", peak.flops_per_s * 1e-12)});
  print(table);
  print_line(lab::roof_sentence(e, roofs));
}

// A brief report has the sentences only.
void print_one(const Explanation& e, bool with_totals, bool is_brief) {
  print_headline(e);
  if (e.lines.empty()) return;
  print_blame(e);
  print_line(prediction_sentence(e));
  print_line(lab::intensity_sentence(e));
  for (const executor::KernelCounts& k : e.launches) print_line(lab::occupancy_sentence(k, e));
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
  print_to_stderr(fmt::format("warpladder: counting {} may take {:.0f} s\n", rung, seconds));
}

// The rungs of one operator that one or two names or patterns mean.
std::vector<lab::Selected> rungs_of(const std::vector<std::string>& names) {
  std::vector<lab::Selected> rungs;
  for (const std::string& name : names) {
    lab::require_rung(name);
    for (const lab::Selected& selected : lab::select({name})) rungs.push_back(selected);
  }
  const lab::Selected& first = rungs.front();
  const auto other = std::ranges::find_if(rungs, [&](const auto& s) { return s.op != first.op; });
  if (other == rungs.end()) return rungs;
  throw_bad_input(
      fmt::format("{} and {} are rungs of different operators; rungs of one can be compared",
                  first.rung->full_name(), other->rung->full_name()));
}

struct ExplainedRungs {
  std::vector<Explanation> rungs;
  // A sentence for each rung of a pattern that cannot be counted.
  std::vector<std::string> left_out;
};

ExplainedRungs explanations_of(const ExplainFlags& flags) {
  if (!flags.first) throw_bad_input("explain: OP/RUNG is required, or --terms, or --metric NAME");
  std::vector<std::string> names{*flags.first};
  if (flags.second) names.push_back(*flags.second);
  const std::vector<lab::Selected> rungs = rungs_of(names);
  const ops::Operator& op = *rungs[0].op;
  if (flags.matrix) {
    require_takes_matrix(op, *flags.matrix);
    require_alone("--matrix",
                  {{"--shape", flags.shape.has_value()}, {"--variant", flags.variant.has_value()}});
  }
  // A matrix has no shape, and is the variant.
  lab::PlainProblem problem;
  if (flags.matrix) {
    problem.variant = *flags.matrix;
  } else if (flags.shape) {
    problem = {parse_shape(*flags.shape, op.default_shape().size(), "--shape"),
               flags.variant.value_or(op.variants().front())};
  } else {
    problem = lab::problem_to_explain(rungs, flags.variant);
  }

  const lab::Progress progress = progress_on_stderr();
  lab::ExplainOptions options{.threads = flags.device.threads,
                              .block_limit_s = seconds_of_timeout(flags.timeout)};
  if (const auto gpus = flags.gpu.given(); !gpus.empty()) options.gpu = gpus.front();
  const bool is_pattern = rungs.size() > names.size();
  ExplainedRungs explained;
  for (const lab::Selected& selected : rungs) {
    const std::string rung = selected.rung->full_name();
    progress("counting " + rung, static_cast<double>(explained.rungs.size()) / rungs.size());
    options.announce = [&](double seconds) { announce_if_long(rung, seconds); };
    try {
      explained.rungs.push_back(lab::explain(selected, problem.shape, problem.variant, options));
    } catch (const Error& error) {
      if (!is_pattern || error.code() != ErrorCode::bad_input) throw;
      explained.left_out.push_back(error.what());
    }
  }
  end_progress();
  if (explained.rungs.empty()) throw_bad_input(explained.left_out.front());
  return explained;
}

void explain(const ExplainFlags& flags, const Context& context) {
  if (flags.terms) return print_terms();
  if (flags.metric) return print_metric(*flags.metric);
  const std::vector<NcuLaunch> measured = flags.ncu.read();
  if (flags.sass) require_architecture("--sass", *flags.sass);
  auto [explained, left_out] = explanations_of(flags);
  std::vector<lab::LineCode> compiled;
  std::vector<Explanation*> all;
  for (Explanation& e : explained) {
    lab::add_shipped_resources(e);
    all.push_back(&e);
    if (flags.sass) compiled.push_back(line_code_of(e, *flags.sass));
  }
  flags.cubin.add_resources_to(all);
  if (flags.ncu.asked()) lab::require_launch_of(all, measured);
  const std::vector<const lab::Gpu*> gpus = flags.gpu.given();
  const bool is_pair = explained.size() == 2;
  if (is_pair) print_side_by_side(explained[0], explained[1]);
  for (std::size_t i = 0; i < explained.size(); ++i) {
    print_one(explained[i], !is_pair, flags.brief);
    print_gpus(explained[i], gpus);
    if (flags.sass) print_line_code(explained[i], compiled[i]);
    if (flags.ncu.asked()) print_beside(explained[i], measured);
    if (i + 1 < explained.size()) print_line("");
  }
  if (!left_out.empty()) print_line("");
  for (const std::string& sentence : left_out) print_line("- left out: " + sentence);
  lab::ExplainPage page;
  for (const Explanation& e : explained) page.parts.push_back(&e);
  if (is_pair) page.versions.emplace_back(&explained[0], &explained[1]);
  flags.html.write(std::move(page), flags.gpu);
  if (flags.json.asked()) {
    nlohmann::json report{
        {"verb", "explain"}, {"rungs", nlohmann::json::array()}, {"left_out", left_out}};
    for (std::size_t i = 0; i < explained.size(); ++i) {
      nlohmann::json& one = report["rungs"].emplace_back(explanation_json(explained[i], gpus));
      if (flags.ncu.asked()) one["ncu"] = beside_json(explained[i], measured);
      if (!flags.sass) continue;
      report["nvcc"] = compiled[i].version;
      one["machine_code"] = line_code_json(compiled[i]);
    }
    flags.json.write(context, std::move(report));
  }
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("explain", "Count what rungs ask of the machine, line by line");
  const auto flags = std::make_shared<ExplainFlags>();
  verb->add_option("OP/RUNG", flags->first, "The rung, or a pattern such as 'transpose/0*'")
      ->type_name("");
  verb->add_option("OP/RUNG2", flags->second, "A second one, to compare with")->type_name("");
  verb->add_option("--shape", flags->shape,
                   "The problem (default: one that the rung takes, and shows its counts soon)")
      ->type_name("MxNxK");
  verb->add_option("--variant", flags->variant, "Of the operator (default: the first in list)")
      ->type_name("NAME");
  verb->add_option("--matrix", flags->matrix, matrix_help())->type_name("FILE|SPEC");
  flags->gpu.add_to(*verb);
  flags->cubin.add_to(*verb);
  flags->html.add_to(*verb);
  flags->ncu.add_to(*verb);
  verb->add_option("--sass", flags->sass,
                   "Also what each line became in machine code for this GPU, as in 90a: needs nvcc "
                   "and the sources")
      ->type_name("ARCH");
  verb->add_option("--metric", flags->metric,
                   "Take the name of a metric of Nsight Compute apart, alone")
      ->type_name("NAME");
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
