// check and run FILE.cu: users' programs, built with g++ and run on the CPU.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/suggest.hpp"
#include "exercise.hpp"
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

// A memory clock moves two bits a cycle and wire.
programs::ToldDevice told_device(const lab::Gpu& gpu) {
  return {.capability = gpu.machine.capability,
          .multiprocessors = gpu.machine.multiprocessors,
          .sm_threads = static_cast<int>(gpu.sm.warps * lab::Sm::warp_threads),
          .sm_blocks = static_cast<int>(gpu.sm.blocks),
          .sm_shared_kib = static_cast<int>(gpu.sm.shared_bytes >> 10),
          .block_shared_kib = static_cast<int>(gpu.sm.block_shared_bytes >> 10),
          .clock_khz = static_cast<int>(gpu.clock_hz / 1e3),
          .memory_clock_khz =
              static_cast<int>(gpu.machine.memory_bytes_per_s / (gpu.bus_bits / 8) / 2 / 1e3),
          .bus_bits = gpu.bus_bits,
          .memory_mib = gpu.memory_mib,
          .l2_kib = static_cast<int>(gpu.machine.l2_bytes >> 10),
          .name = gpu.driver_name};
}

void expect_one_gpu(const ProgramFlags& flags) {
  if (flags.gpu.keys.size() > 1) throw_bad_input("--gpu: the program sees one GPU; name one");
}

struct CheckFlags : ProgramFlags {
  ReportFlag report;
  JsonFlag json;
};

void check(CheckFlags& flags, Context& context) {
  expect_one_gpu(flags);
  flags.report.settle();
  const std::vector<std::string>& files = flags.request.files;
  const lab::Exercise* const exercise = files.size() == 1 ? exercise_in(files.front()) : nullptr;
  const programs::Outcome outcome =
      programs::run_program(flags.request_for(context, exercise ? "judge" : "check"));
  nlohmann::json report = as_json(outcome);
  report["verb"] = "check";
  if (exercise) {
    const bool is_solved = judge(*exercise, outcome);
    report["exercise"] = {{"number", exercise->number}, {"solved", is_solved}};
    if (!is_solved) context.exit_code = 1;
  } else if (!stdout_is_taken()) {
    print_to_stderr(as_text(outcome));  // standard output is the program's own
  }
  flags.report.write(context, outcome, report);
  if (flags.json.asked()) flags.json.write(context, std::move(report));
  // A program that fails by itself has not been checked to its end.
  if (!outcome.findings.empty() || outcome.status != 0) context.exit_code = 1;
}

void run(const ProgramFlags& flags, Context& context) {
  expect_one_gpu(flags);
  const programs::Outcome outcome = programs::run_program(flags.request_for(context, "run"));
  if (!outcome.findings.empty()) print_to_stderr(as_text(outcome));
  if (outcome.signal) {
    print_to_stderr(fmt::format(
        "warpladder: the program was ended by signal {}; 'warpladder check' may say why\n",
        outcome.signal));
  }
  context.exit_code = outcome.status;
}

}  // namespace

bool names_program(std::span<const char* const> argv) {
  const auto dashes = std::ranges::find(argv, std::string_view("--"));
  return std::any_of(argv.begin(), dashes, is_source);
}

void ReportFlag::add_to(CLI::App& verb) {
  verb.add_option("--format", format,
                  "Write a report: as g++ does for editors, as SARIF for code hosts, or as JSON")
      ->type_name("gcc|sarif|json");
  add_output_file(verb, "--out", out, "Where --format writes (default: standard output)");
}

void ReportFlag::settle() {
  const std::vector<std::string> formats{"gcc", "sarif", "json"};
  if (!format.empty() && std::ranges::find(formats, format) == formats.end()) {
    throw_bad_input(fmt::format("--format does not know {}; it knows: {}",
                                in_quotes(format, kShownBytes), known_names(format, formats)));
  }
  if (format.empty() && !out.empty())
    throw_bad_input("--out is where --format writes; give --format");
  if (format.empty() || !out.empty()) return;
  out = "-";
  register_output("--format", out);
}

void ReportFlag::write(const Context& context, const programs::Outcome& outcome,
                       nlohmann::json report) const {
  if (format == "gcc") write_output(out, as_gcc(outcome), "--out");
  if (format == "sarif") {
    write_output(out, as_sarif(outcome, kVersion).dump(2) + "\n", "--out");
  }
  if (format == "json") JsonFlag{out, "--out"}.write(context, std::move(report));
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
  gpu.add_to(verb);
  verb.get_option("--gpu")->description(fmt::format(
      "The GPU that the program sees: {} (default: one of 16 multiprocessors)", gpu_keys()));
  verb.add_option("--budget", request.budget_s, "Give advice if it takes longer (default: 20)")
      ->type_name("SECONDS");
  verb.footer(kFooter);
}

void ProgramFlags::add_selection_to(CLI::App& verb) {
  verb.add_option("--kernel", request.kernel, "Only this kernel")->type_name("NAME");
  verb.add_option("--launch", request.launch, "Only the Nth launch of a kernel, from 1")
      ->type_name("N");
  verb.add_flag("--all-launches", request.all_launches, "Those that repeat an earlier one, too");
  verb.add_option("--timeout", timeout,
                  fmt::format("Processor time of a thread block, or of host code between launches, "
                              "after which it counts as an endless loop; 0: any (default: {:g})",
                              request.timeout_s))
      ->type_name("SECONDS");
}

Request ProgramFlags::request_for(const Context& context, const char* mode) const {
  Request complete = request;
  complete.mode = mode;
  complete.threads = device.threads;
  if (timeout) complete.timeout_s = seconds_of_timeout(*timeout);
  complete.hide_output = stdout_is_taken();
  const std::vector<const lab::Gpu*> gpus = gpu.given();
  if (!gpus.empty()) complete.device = told_device(*gpus.front());
  complete.arguments.assign(context.program_arguments.begin(), context.program_arguments.end());
  return complete;
}

void add_check(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("check", "Find the bugs of a CUDA program, on the CPU");
  const auto flags = std::make_shared<CheckFlags>();
  flags->add_to(*verb);
  flags->add_selection_to(*verb);
  verb->add_flag("--leaks", flags->request.leaks, "Memory that is never freed is a finding, too");
  verb->add_flag("--uninitialised", flags->request.uninitialised,
                 "Global memory that a kernel reads before anything has written it is a finding, "
                 "too; looks at all launches");
  flags->report.add_to(*verb);
  flags->json.add_to(*verb);
  verb->callback([flags, &context] { check(*flags, context); });
}

void add_run_program(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("run", "A CUDA program, on the CPU");
  const auto flags = std::make_shared<ProgramFlags>();
  flags->add_to(*verb);
  verb->callback([flags, &context] { run(*flags, context); });
}

}  // namespace warpladder::app
