#include "lab/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/parse.hpp"
#include "exchange.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

constexpr std::size_t kCausesShown = 5;  // of each rung
constexpr const char* kDefaultTimeout = "20";
constexpr const char* kNoCase = "no case that it accepts";

struct VerifyFlags {
  std::vector<std::string> names;
  std::optional<std::string> shape, variant, matrix;
  std::string timeout = kDefaultTimeout;
  bool fast = false, large = false, quiet = false, fail_fast = false;
  DeviceFlags device;
  std::string csv, junit;
  JsonFlag json;
};

std::vector<std::int64_t> shape_for(const std::vector<lab::Selected>& rungs,
                                    const std::string& text) {
  const ops::Operator& op = *rungs.front().op;
  for (const lab::Selected& other : rungs) {
    if (other.op->shape_form() == op.shape_form()) continue;
    throw_bad_input(fmt::format(
        "--shape {} cannot fit both {}, which takes {}, and {}, which takes {}; name one operator",
        in_quotes(text, kShownBytes), op.name(), op.shape_form(), other.op->name(),
        other.op->shape_form()));
  }
  return parse_shape(text, op.default_shape().size(), "--shape");
}

struct Tally {
  std::size_t passed = 0, failed = 0, skipped = 0;
};
Tally tally_of(const std::vector<lab::VerifyRow>& rows) {
  Tally tally;
  for (const lab::VerifyRow& row : rows) {
    const bool skipped = !row.skipped.empty() || row.cases.empty();
    ++(skipped ? tally.skipped : row.failures() ? tally.failed : tally.passed);
  }
  return tally;
}

std::vector<Cell> cells_of(const lab::VerifyRow& row) {
  const std::string rung = row.op + "/" + row.rung;
  if (!row.skipped.empty()) {
    return {rung, lab::name(row.flavour), "", "", "", {"skipped: " + row.skipped, Emphasis::dim}};
  }
  const std::size_t count = row.cases.size(), failures = row.failures();
  const lab::CaseResult* worst = row.worst();
  const Emphasis emphasis = failures ? Emphasis::bad : Emphasis::good;
  if (count == 0) {
    return {rung, lab::name(row.flavour), "", "", "", {kNoCase, Emphasis::dim}};
  }
  return {rung,
          lab::name(row.flavour),
          std::to_string(count),
          {std::to_string(count - failures), emphasis},
          {worst ? fmt::format("{:.2g}", worst->worst_error_over_bound) : "", emphasis},
          worst ? worst->name : ""};
}

// Failures of one cause are printed once, with the smallest case.
void print_failures(const lab::VerifyRow& row) {
  const std::vector<lab::FailureGroup> groups = lab::failure_groups(row);
  for (std::size_t i = 0; i < groups.size() && i < kCausesShown; ++i) {
    const auto& [smallest, cases] = groups[i];
    const std::string where = fmt::format("{} of {} cases{} {}", cases, row.cases.size(),
                                          cases == 1 ? "," : ", the smallest", smallest->name);
    if (smallest->broken) {
      print_line(fmt::format("- {}/{}: {}: {}, in {}:\n  {}", row.op, row.rung,
                             smallest->broken->place(), smallest->broken->kind, where,
                             smallest->broken->sentence));
    } else {
      print_line(
          fmt::format("- {}/{}: wrong in {}:\n  {}", row.op, row.rung, where, smallest->failure));
    }
  }
  if (groups.size() > kCausesShown) {
    print_line(fmt::format("- {}/{}: … and {} more causes", row.op, row.rung,
                           groups.size() - kCausesShown));
  }
}

std::string summary_of(const Tally& tally) {
  return fmt::format("{} {} passed, {} failed, {} skipped", tally.passed,
                     tally.passed == 1 ? "rung" : "rungs", tally.failed, tally.skipped);
}

// Why a rung that passed may still break CUDA's rules; empty where each access was checked.
std::string unchecked(const lab::VerifyRequest& request) {
  if (request.target == runtime::Target::gpu) {
    return "Results were compared, but no access was checked; --device cpu checks each.";
  }
  if (request.checking == lab::Checking::each_access) return "";
  return "Results were compared, but no access was checked: --fast leaves that out.";
}

void print_report(const std::vector<lab::VerifyRow>& rows, const Tally& tally,
                  const std::vector<std::string>& left_out, bool quiet) {
  if (!quiet) {
    TextTable table({{"rung"},
                     {"flavour"},
                     {"cases", Align::right},
                     {"passed", Align::right},
                     {"worst error ÷ bound", Align::right},
                     {"worst case"}});
    for (const lab::VerifyRow& row : rows) table.add_row(cells_of(row));
    print(table);
    print_line("");
  }
  if (tally.failed) {
    for (const lab::VerifyRow& row : rows) print_failures(row);
    print_line("");
  }
  print_line(summary_of(tally));
  for (const std::string& sentence : left_out) print_line("- left out: " + sentence);
}

nlohmann::json as_json(const std::vector<lab::VerifyRow>& rows, const Tally& tally,
                       const std::vector<std::string>& left_out) {
  nlohmann::json list = nlohmann::json::array();
  for (const lab::VerifyRow& row : rows) {
    nlohmann::json cases = nlohmann::json::array();
    for (const lab::CaseResult& result : row.cases) {
      // An infinite error is null: JSON has no word for it.
      cases.push_back({{"name", result.name},
                       {"worst_error_over_bound", result.worst_error_over_bound},
                       {"failure", result.failure}});
      if (!result.broken) continue;
      cases.back()["broken_rule"] = {{"file", result.broken->file},
                                     {"line", result.broken->line},
                                     {"kind", result.broken->kind}};
    }
    list.push_back({{"op", row.op},
                    {"rung", row.rung},
                    {"flavour", lab::name(row.flavour)},
                    {"skipped", row.skipped},
                    {"not_taken", row.not_taken},
                    {"cases", cases}});
  }
  return {{"verb", "verify"},         {"rows", list},
          {"passed", tally.passed},   {"failed", tally.failed},
          {"skipped", tally.skipped}, {"left_out", left_out}};
}

// A line per case; one for a rung without any.
std::string csv(const std::vector<lab::VerifyRow>& rows) {
  std::string text = "op,rung,flavour,case,worst_error_over_bound,failure,skipped\n";
  for (const lab::VerifyRow& row : rows) {
    const auto line = [&](const std::string& name, const std::string& error,
                          const std::string& failure, const std::string& skipped) {
      text += csv_line({row.op, row.rung, lab::name(row.flavour), name, error, failure, skipped});
    };
    if (row.cases.empty()) line("", "", "", row.skipped.empty() ? kNoCase : row.skipped);
    for (const lab::CaseResult& each : row.cases) {
      line(each.name, fmt::format("{:.6g}", each.worst_error_over_bound), each.failure, "");
    }
  }
  return text;
}

std::string junit(const std::vector<lab::VerifyRow>& rows) {
  std::vector<JunitCase> cases;
  for (const lab::VerifyRow& row : rows) {
    const std::string rung = row.op + "." + row.rung, flavour = lab::name(row.flavour);
    if (row.cases.empty()) {
      cases.push_back(junit_case(rung, flavour, "", row.skipped.empty() ? kNoCase : row.skipped));
    }
    for (const lab::CaseResult& each : row.cases) {
      cases.push_back(junit_case(rung, flavour + " " + each.name, each.failure));
    }
  }
  return app::junit("warpladder verify", cases);
}

// For the cases that users add.
std::vector<std::string> left_out_of(const std::vector<lab::Selected>& rungs) {
  std::vector<std::string> sentences;
  const ops::Operator* op = nullptr;  // one's rungs follow each other
  for (const lab::Selected& selected : rungs) {
    if (selected.op == op) continue;
    op = selected.op;
    if (!op->matrices()) continue;
    for (std::string& sentence : op->matrices()->left_out()) {
      sentences.push_back(std::move(sentence));
    }
  }
  return sentences;
}

void verify(const VerifyFlags& flags, Context& context) {
  lab::VerifyRequest request;
  request.rungs = lab::select_once(flags.names);
  if (flags.matrix) {
    for (const lab::Selected& s : request.rungs) require_takes_matrix(*s.op, *flags.matrix);
    require_alone("--matrix", {{"--shape", flags.shape.has_value()},
                               {"--variant", flags.variant.has_value()},
                               {"--large", flags.large}});
  }
  if (flags.shape && !request.rungs.empty()) request.shape = shape_for(request.rungs, *flags.shape);
  request.target = flags.device.target();
  if (flags.fast && request.target == runtime::Target::gpu) {
    throw_bad_input("--fast leaves out the checks of the CPU's executor; a GPU has none");
  }
  if (flags.variant && !flags.shape) {
    throw_bad_input("--variant is for the problem that --shape gives; give --shape too");
  }
  if (flags.large && flags.shape) throw_bad_input("--large and --shape both name the cases");
  request.variant = flags.variant;
  if (flags.matrix) {
    request.shape.emplace();  // it has none
    request.variant = flags.matrix;
  }
  request.large = flags.large;
  if (flags.fast) request.checking = lab::Checking::results;
  request.stop_at_failure = flags.fail_fast;
  request.block_limit_s = seconds_of_timeout(flags.timeout);
  request.executor_threads = flags.device.threads;
  // The executor cannot stop unchecked kernels, and a user's own problem may be long.
  if (flags.fast && !request.shape) limit_each(request.block_limit_s);

  const std::vector<lab::VerifyRow> rows = lab::verify(request, progress_on_stderr());
  end_progress();
  const Tally tally = tally_of(rows);
  std::vector<std::string> left_out;
  if (!request.shape && !request.large) left_out = left_out_of(request.rungs);
  print_report(rows, tally, left_out, flags.quiet);
  if (const std::string why = unchecked(request); !why.empty() && !flags.quiet) print_line(why);
  if (!flags.csv.empty()) write_output(flags.csv, csv(rows), "--csv");
  if (!flags.junit.empty()) write_output(flags.junit, junit(rows), "--junit");
  if (flags.json.asked()) {
    nlohmann::json report = as_json(rows, tally, left_out);
    report["target"] = device::name(request.target);
    flags.json.write(context, std::move(report));
  }
  if (tally.passed + tally.failed == 0) {
    throw_resource(fmt::format("nothing was verified: no selected rung can run on the {}",
                               device::name(request.target)));
  }
  if (tally.failed) context.exit_code = static_cast<int>(ErrorCode::check_failed);
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("verify", "Compare rungs with the float64 reference");
  const auto flags = std::make_shared<VerifyFlags>();
  verb->add_option("OP[/RUNG]", flags->names,
                   "Operators, rungs, or patterns such as 'sgemm/row_*' (default: all)")
      ->type_name("");
  verb->add_option("--shape", flags->shape, "This problem instead of the operator's cases")
      ->type_name("MxNxK");
  verb->add_option("--variant", flags->variant, "Of the operator (default: the first in list)")
      ->type_name("NAME");
  verb->add_option("--matrix", flags->matrix, matrix_help())->type_name("FILE|SPEC");
  verb->add_flag("--large", flags->large,
                 "The cases of more than 2^31 elements instead: for a GPU, and 40 GiB on the host");
  verb->add_flag("--fast", flags->fast,
                 "Compare results alone: on the CPU the executor checks every access unless told");
  verb->add_flag("--fail-fast", flags->fail_fast, "Stop at the first case that fails");
  verb->add_flag("--quiet", flags->quiet, "Print failures and the last line alone");
  verb->add_option("--timeout", flags->timeout, timeout_help(kDefaultTimeout))
      ->type_name("SECONDS");
  flags->device.add_to(*verb);
  add_output_file(*verb, "--csv", flags->csv, "Write a line per case as comma-separated values");
  add_output_file(*verb, "--junit", flags->junit, "Write a test case per case as JUnit's XML");
  flags->json.add_to(*verb);
  verb->footer(kMatricesFooter);
  verb->callback([flags, &context] { verify(*flags, context); });
}

}  // namespace warpladder::app
