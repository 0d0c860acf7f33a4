// check, run FILE.cu and explain FILE.cu: other people's programs, built with g++ and run on the
// CPU.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>

#include "base/error.hpp"
#include "explain_report.hpp"
#include "lab/explain.hpp"
#include "lab/kernel_name.hpp"
#include "program_flags.hpp"
#include "programs/report.hpp"
#include "version.hpp"

namespace warpladder::app {
namespace {

using programs::Request;

constexpr const char* kFooter =
    "Arguments behind -- are the program's own. It needs g++ and binutils, no CUDA and no GPU.";

bool is_source(std::string_view argument) {
  return argument.ends_with(".cu") || argument.ends_with(".cuh");
}

struct CheckFlags : ProgramFlags {
  bool gcc = false;
  std::string sarif;
  JsonFlag json;
};

void check(const CheckFlags& flags, Context& context) {
  const programs::Outcome outcome = programs::run_program(flags.request_for(context, "check"));
  // To standard error: standard output is the program's own.
  if (flags.gcc) {
    std::fputs(as_gcc(outcome).c_str(), stderr);
  } else if (!stdout_is_taken()) {
    std::fputs(as_text(outcome).c_str(), stderr);
  }
  if (!flags.sarif.empty()) {
    write_output(flags.sarif, as_sarif(outcome, kVersion).dump(2) + "\n", "--sarif");
  }
  if (flags.json.asked()) {
    nlohmann::json report = as_json(outcome);
    report["verb"] = "check";
    flags.json.write(context, std::move(report));
  }
  // A program that fails by itself has not been checked to its end.
  if (!outcome.findings.empty() || outcome.status != 0) context.exit_code = 1;
}

void run(const ProgramFlags& flags, Context& context) {
  const programs::Outcome outcome = programs::run_program(flags.request_for(context, "run"));
  if (!outcome.findings.empty()) std::fputs(as_text(outcome).c_str(), stderr);
  if (outcome.signal) {
    std::fprintf(stderr,
                 "warpladder: the program was ended by signal %d; 'warpladder check' may say why\n",
                 outcome.signal);
  }
  context.exit_code = outcome.status;
}

lab::Explanation explanation_of(const std::string& kernel,
                                std::vector<executor::KernelCounts> launches) {
  lab::Explanation e;
  e.rung = kernel;
  e.launches = std::move(launches);
  e.totals = ladder::totals_of(e.launches);
  e.ideal = lab::ideal_totals(e.launches);
  e.lines = lab::lines_of(e.launches);
  e.to_blame = lab::blame(e.lines);
  return e;
}

void print_kernel(const lab::Explanation& e, const programs::KernelUse& use, bool is_brief) {
  const executor::KernelCounts& first = e.launches.front();
  print_line(fmt::format(
      "{}: {} of {} launches counted, the first with grid {}, block {}, {} bytes of dynamic shared "
      "memory",
      lab::short_kernel_name(e.rung), use.looked_at, use.launched, dims(first.grid),
      dims(first.block), first.dynamic_shared_bytes));
  print_line("");
  if (e.lines.empty()) return;
  print_blame(e);
  print_line(intensity_sentence(e));
  print_line(occupancy_sentence(first, *e.gpu));
  print_line("");
  if (is_brief) return;
  print_counted(e, true);
  print_line("");
}

struct ExplainProgramFlags : ProgramFlags {
  bool brief = false;
  JsonFlag json;
};

void explain(const ExplainProgramFlags& flags, Context& context) {
  const Request request = flags.request_for(context, "explain");
  const programs::Outcome outcome = programs::run_program(request);
  std::map<std::string, std::vector<executor::KernelCounts>> by_kernel;
  for (const executor::KernelCounts& k : outcome.counts) by_kernel[k.kernel].push_back(k);
  nlohmann::json report{{"verb", "explain"}, {"kernels", nlohmann::json::array()}};
  for (const programs::KernelUse& use : outcome.kernels) {
    const auto counts = by_kernel.find(use.name);
    if (counts == by_kernel.end()) continue;
    const lab::Explanation e = explanation_of(use.name, counts->second);
    print_kernel(e, use, flags.brief);
    if (flags.json.asked()) report["kernels"].push_back(explanation_json(e));
  }
  if (flags.json.asked()) flags.json.write(context, std::move(report));
  if (!outcome.findings.empty()) std::fputs(as_text(outcome).c_str(), stderr);
  if (by_kernel.empty() && outcome.findings.empty()) {
    throw_bad_input(request.kernel.empty() ? "the program launched no kernel"
                                           : fmt::format("no launch of {} was counted; the kernels "
                                                         "are named as in their launches",
                                                         request.kernel));
  }
  if (!outcome.findings.empty() || outcome.status != 0) context.exit_code = 1;
}

}  // namespace

bool names_program(std::span<const char* const> argv) {
  const auto dashes = std::ranges::find(argv, std::string_view("--"));
  return std::any_of(argv.begin(), dashes, is_source);
}

void ProgramFlags::add_to(CLI::App& verb) {
  verb.add_option("FILE", request.files, "Its source files: .cu, .cpp, .c")
      ->type_name("")
      ->required();
  verb.add_option("-I", request.include_folders, "A folder of headers; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  verb.add_option("-D", request.defines, "A macro; may be repeated")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  device.add_to(verb);
  verb.remove_option(verb.get_option("--device"));  // it runs on the CPU
  verb.add_option("--budget", request.budget_s, "Give advice if it takes longer (default: 20)")
      ->type_name("SECONDS");
  verb.footer(kFooter);
}

void ProgramFlags::add_selection_to(CLI::App& verb) {
  verb.add_option("--kernel", request.kernel, "Only this kernel")->type_name("NAME");
  verb.add_option("--launch", request.launch, "Only the Nth launch of a kernel, from 1")
      ->type_name("N");
  verb.add_flag("--all-launches", request.all_launches, "Those that repeat an earlier one, too");
}

Request ProgramFlags::request_for(const Context& context, const char* mode) const {
  Request complete = request;
  complete.mode = mode;
  complete.threads = device.threads;
  complete.hide_output = stdout_is_taken();
  complete.arguments.assign(context.program_arguments.begin(), context.program_arguments.end());
  return complete;
}

void add_check(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("check", "Find the bugs of a CUDA program, on the CPU");
  const auto flags = std::make_shared<CheckFlags>();
  flags->add_to(*verb);
  flags->add_selection_to(*verb);
  verb->add_flag("--leaks", flags->request.leaks, "Memory that is never freed is a finding, too");
  verb->add_flag("--gcc", flags->gcc,
                 "Print findings as g++ does, for editors and problem matchers");
  add_output_file(*verb, "--sarif", flags->sarif, "Write the findings as SARIF, for code hosts");
  flags->json.add_to(*verb);
  verb->callback([flags, &context] { check(*flags, context); });
}

void add_run_program(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("run", "A CUDA program, on the CPU");
  const auto flags = std::make_shared<ProgramFlags>();
  flags->add_to(*verb);
  verb->callback([flags, &context] { run(*flags, context); });
}

void add_explain_program(CLI::App& app, Context& context) {
  auto* verb =
      app.add_subcommand("explain", "Count what a CUDA program's kernels ask, line by line");
  const auto flags = std::make_shared<ExplainProgramFlags>();
  flags->add_to(*verb);
  flags->add_selection_to(*verb);
  verb->add_flag("--brief", flags->brief, "Print the sentences, not the tables");
  flags->json.add_to(*verb);
  verb->callback([flags, &context] { explain(*flags, context); });
}

}  // namespace warpladder::app
