// explain FILE.cu: what the kernels of a person's program ask of the machine.

#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/suggest.hpp"
#include "executor/compiled_code.hpp"
#include "explain_report.hpp"
#include "lab/explain.hpp"
#include "lab/explain_words.hpp"
#include "lab/kernel_name.hpp"
#include "lab/ncu_compare.hpp"
#include "ncu_view.hpp"
#include "program_flags.hpp"
#include "programs/report.hpp"

namespace warpladder::app {
namespace {

using lab::Explanation;
using programs::Outcome;
using programs::Request;

struct ExplainProgramFlags : ProgramFlags {
  bool brief = false;
  std::vector<std::string> against;
  CubinFlag cubin;
  std::string as_compiled;
  HtmlFlag html;
  NcuFlag ncu;
  ReportFlag report;
  JsonFlag json;
};

// A program that ran, and its kernels in the order of their first launch.
struct Explained {
  Outcome outcome;
  std::deque<Explanation> kernels;
  std::vector<programs::KernelUse> uses;  // of each
};

Explanation explanation_of(const std::string& kernel, std::vector<executor::KernelCounts> launches,
                           const lab::Gpu& gpu) {
  Explanation e;
  e.gpu = &gpu;
  e.rung = kernel;
  e.launches = std::move(launches);
  e.totals = ladder::totals_of(e.launches);
  e.ideal = lab::ideal_totals(e.launches);
  e.flops = 2 * static_cast<double>(e.totals.fmas);
  e.lines = lab::lines_of(e.launches);
  e.to_blame = lab::blame(e.lines, gpu);
  return e;
}

std::string why_nothing_counted(const Request& request, const Outcome& outcome) {
  const bool is_cut = outcome.signal != 0;
  if (outcome.kernels.empty()) {
    return "the program launched no kernel" + (is_cut ? "; " + end_of(outcome) : "");
  }
  if (is_cut) return "no launch was counted to its end: " + end_of(outcome);
  if (request.kernel.empty()) return "no launch was counted";
  return fmt::format(
      "no launch of {} was counted; the kernels are: {}", in_quotes(request.kernel, kShownBytes),
      known_names(request.kernel, names_of(outcome.kernels, &programs::KernelUse::name)));
}

Explained explained(const Request& request, const lab::Gpu& gpu) {
  Explained program{programs::run_program(request), {}, {}};
  std::map<std::string, std::vector<executor::KernelCounts>> by_kernel;
  for (const executor::KernelCounts& k : program.outcome.counts) by_kernel[k.kernel].push_back(k);
  for (const programs::KernelUse& use : program.outcome.kernels) {
    const auto counts = by_kernel.find(use.name);
    if (counts == by_kernel.end()) continue;
    program.kernels.push_back(explanation_of(use.name, counts->second, gpu));
    program.uses.push_back(use);
  }
  if (program.kernels.empty() && program.outcome.findings.empty()) {
    throw_bad_input(why_nothing_counted(request, program.outcome));
  }
  return program;
}

void print_kernel(const Explanation& e, const programs::KernelUse& use, bool is_brief,
                  const std::vector<const lab::Gpu*>& gpus) {
  const executor::KernelCounts& first = e.launches.front();
  print_line(fmt::format(
      "{}: {} of {} launches counted, the first with grid {}, block {}, {} bytes of dynamic shared "
      "memory",
      lab::short_kernel_name(e.rung), use.looked_at, use.launched, dims(first.grid),
      dims(first.block), first.dynamic_shared_bytes));
  print_line("");
  if (e.lines.empty()) return;
  print_blame(e);
  print_line(lab::intensity_sentence(e));
  print_line(lab::occupancy_sentence(first, e));
  print_gpus(e, gpus);
  print_line("");
  if (is_brief) return;
  print_counted(e, true);
  print_line("");
}

void print_program(const Explained& program, bool is_brief,
                   const std::vector<const lab::Gpu*>& gpus) {
  for (std::size_t i = 0; i < program.kernels.size(); ++i) {
    print_kernel(program.kernels[i], program.uses[i], is_brief, gpus);
  }
}

using Versions = std::vector<std::pair<const Explanation*, const Explanation*>>;

// Kernels of one name, or the only ones of both programs.
Versions versions_of(const Explained& before, const Explained& after) {
  Versions versions;
  for (const Explanation& a : before.kernels) {
    for (const Explanation& b : after.kernels) {
      if (a.rung == b.rung) versions.emplace_back(&a, &b);
    }
  }
  if (versions.empty() && before.kernels.size() == 1 && after.kernels.size() == 1) {
    versions.emplace_back(&before.kernels.front(), &after.kernels.front());
  }
  return versions;
}

// Of the lines that waste something, the worst of a kernel first.
void add_advice(const Explanation& e, Outcome& outcome) {
  for (const lab::LineCounts& line : e.lines) {
    if (const auto waste = lab::waste_of(line, e.cost())) {
      outcome.advice.push_back({waste->kind, line.file, line.line, lab::short_kernel_name(e.rung),
                                "", "", waste->sentence});
    }
  }
}

// Kernels of two programs are told apart by their files.
void name_by_file(Explained& program, const std::string& file) {
  for (Explanation& e : program.kernels) e.rung += fmt::format(" ({})", file);
}

void explain(ExplainProgramFlags& flags, Context& context) {
  flags.report.settle();
  const std::vector<NcuLaunch> measured = flags.ncu.read();
  const std::vector<const lab::Gpu*> gpus = flags.gpu.given();
  const lab::Gpu& gpu = gpus.empty() ? lab::default_gpu() : *gpus.front();
  Request request = flags.request_for(context, "explain");
  if (!flags.as_compiled.empty()) {
    executor::read_compiled_code(flags.as_compiled);  // refused before anything is built
    request.compiled = std::filesystem::absolute(flags.as_compiled).string();
  }
  std::deque<Explained> ran;
  ran.push_back(explained(request, gpu));
  if (!flags.against.empty()) {
    request.files = flags.against;
    ran.push_back(explained(request, gpu));
  }
  std::vector<Explanation*> all;
  for (Explained& program : ran) {
    for (Explanation& e : program.kernels) all.push_back(&e);
  }
  flags.cubin.add_resources_to(all);
  if (flags.ncu.asked()) lab::require_launch_of(all, measured);
  nlohmann::json report{{"verb", "explain"}, {"kernels", nlohmann::json::array()}};
  lab::ExplainPage page;
  if (ran.size() == 2) {
    page.versions = versions_of(ran[0], ran[1]);
    name_by_file(ran[0], flags.request.files.front());
    name_by_file(ran[1], flags.against.front());
  }
  for (const auto& [a, b] : page.versions) print_side_by_side(*a, *b);
  for (Explained& program : ran) {
    print_program(program, flags.brief, gpus);
    for (const Explanation& e : program.kernels) {
      add_advice(e, program.outcome);
      page.parts.push_back(&e);
      if (flags.ncu.asked()) print_beside(e, measured);
      report["kernels"].push_back(explanation_json(e, gpus));
      if (flags.ncu.asked()) report["kernels"].back()["ncu"] = beside_json(e, measured);
    }
    if (!program.outcome.findings.empty()) print_to_stderr(as_text(program.outcome));
    if (program.outcome.findings.empty() && program.outcome.signal) {
      print_to_stderr(fmt::format("warpladder: {}\n", end_of(program.outcome)));
    }
    if (!program.outcome.findings.empty() || program.outcome.status != 0) context.exit_code = 1;
  }
  flags.html.write(std::move(page), flags.gpu);
  Outcome& outcome = ran.front().outcome;
  if (ran.size() == 2) {
    const Outcome& other = ran.back().outcome;
    outcome.findings.insert(outcome.findings.end(), other.findings.begin(), other.findings.end());
    outcome.advice.insert(outcome.advice.end(), other.advice.begin(), other.advice.end());
  }
  flags.report.write(context, outcome, report);
  if (flags.json.asked()) flags.json.write(context, std::move(report));
}

}  // namespace

void add_explain_program(CLI::App& app, Context& context) {
  auto* verb =
      app.add_subcommand("explain", "Count what a CUDA program's kernels ask, line by line");
  const auto flags = std::make_shared<ExplainProgramFlags>();
  flags->add_to(*verb);
  flags->add_selection_to(*verb);
  verb->add_option("--against", flags->against,
                   "Another version's source file, set beside the first; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  verb->get_option("--gpu")->description(
      fmt::format("The GPU that the program sees, and whose roofs and occupancy: {} (default: {} "
                  "for these, and a program sees 16 multiprocessors)",
                  gpu_keys(), lab::default_gpu().key));
  verb->add_flag("--brief", flags->brief, "Print the sentences, not the tables");
  flags->cubin.add_to(*verb);
  verb->add_option("--as-compiled", flags->as_compiled,
                   "Count accesses as wide as machine code has them, and divisions' multiply-adds: "
                   "lines of kernel, file, line, global|shared, load|store and the sum of widths")
      ->type_name("FILE");
  flags->html.add_to(*verb);
  flags->ncu.add_to(*verb);
  flags->report.add_to(*verb);
  flags->json.add_to(*verb);
  verb->callback([flags, &context] { explain(*flags, context); });
}

}  // namespace warpladder::app
