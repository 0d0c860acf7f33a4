// The command line: declares the verbs and turns whatever they throw into a sentence and an exit
// code. The verbs themselves are in the files beside this one.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/provenance.hpp"
#include "verb.hpp"
#include "version.hpp"

namespace warpladder::app {
namespace {

// A descriptor that the caller closed would become the next file that is opened, and what is meant
// for the terminal would end up in it.
void open_closed_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  }
}

std::string version_line() {
  const nlohmann::json origin = provenance({});
  return fmt::format("warpladder {} (commit {})", kVersion, origin["commit"].get<std::string>());
}

// What the user typed and no verb knows; the mark before positional arguments is not of it.
std::vector<std::string> leftovers(const CLI::App& root) {
  std::vector<std::string> left = root.remaining(true);
  std::erase(left, "--");
  return left;
}

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(child->get_name());
  }
  return names;
}

// An empty value is a script's variable that was not set, never an absent flag.
constexpr const char* kNeedsValue = "needs a value";
void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    option->check([](const std::string& text) { return text.empty() ? kNeedsValue : ""; }, "", "");
  }
  for (CLI::App* child : app.get_subcommands([](CLI::App*) { return true; })) {
    refuse_empty_values(*child);
  }
}

// One sentence of ours for what CLI11 found wrong.
std::string usage_sentence(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App* app = &root;
  std::string verb;  // as typed: "run sgemm"
  while (!app->get_subcommands().empty()) {
    app = app->get_subcommands().front();
    verb += (verb.empty() ? "" : " ") + app->get_name();
  }
  const std::string known = fmt::format("{}", fmt::join(names_below(*app), ", "));

  // An argument that nobody knows explains more than the required one that it was meant to be.
  if (const auto left = leftovers(root); !left.empty()) {
    const std::string first = in_quotes(left.front(), kShownBytes);
    if (left.front().starts_with('-')) {
      return fmt::format("unknown flag {}; 'warpladder {}{}--help' lists the flags", first, verb,
                         verb.empty() ? "" : " ");
    }
    if (verb.empty()) return fmt::format("unknown verb {}; the verbs are: {}", first, known);
    if (known.empty()) return fmt::format("{} does not take the argument {}", verb, first);
    return fmt::format("{} does not know {}; it knows: {}", verb, first, known);
  }
  if (verb.empty()) return fmt::format("a verb is missing; the verbs are: {}", known);
  if (!known.empty()) return fmt::format("{} needs an operator; it knows: {}", verb, known);
  const std::string complaint = error.what();
  const std::string flag = complaint.substr(0, complaint.find(':'));
  if (complaint.ends_with(" missing") || complaint.ends_with(kNeedsValue)) {
    return fmt::format("{}: {} {}", verb, flag, kNeedsValue);
  }
  if (complaint.find("At Most") != complaint.npos) {
    return fmt::format("{}: {} is given more than once", verb, flag);
  }
  return fmt::format("{}: {}", verb, complaint);
}

void run(Context& context) {
  CLI::App app("CUDA operators, climbed rung by rung: checked, timed and explained.", "warpladder");
  app.set_version_flag("--version", version_line(), "Print the version and the commit");
  app.require_subcommand(1);
  for (const auto add : {add_list, add_doctor, add_run, add_verify, add_bench, add_accuracy,
                         add_explain, add_inspect, add_compare, add_report, add_build}) {
    add(app, context);
  }
  refuse_empty_values(app);
  try {
    app.parse(static_cast<int>(context.argv.size()), context.argv.data());
  } catch (const CLI::CallForHelp&) {
    print_line(app.help());
  } catch (const CLI::CallForVersion& version) {
    print_line(version.what());
  } catch (const CLI::ParseError& error) {
    if (context.argv.size() > 1) throw_bad_input(usage_sentence(app, error));
    std::fputs(app.help().c_str(), stderr);
    context.exit_code = static_cast<int>(ErrorCode::bad_input);
  }
}

// One line, whatever bytes a file name in it holds: none may drive the terminal.
void complain(const std::string& sentence) {
  end_progress();
  const std::string quoted = in_quotes(sentence);
  std::fputs(("warpladder: " + quoted.substr(1, quoted.size() - 2) + "\n").c_str(), stderr);
}

// The one place where exceptions become exit codes.
int exit_code_of_current_exception() {
  try {
    throw;
  } catch (const Error& error) {
    complain(error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    complain("the memory of this machine does not suffice");
    return static_cast<int>(ErrorCode::resource);
  } catch (const std::exception& error) {
    complain(std::string("internal error: ") + error.what());
    return static_cast<int>(ErrorCode::check_failed);
  }
}

}  // namespace
}  // namespace warpladder::app

int main(int argc, char** argv) {
  using namespace warpladder::app;
  open_closed_standard_descriptors();
  // A reader that has gone and a limit on files are errors of write() that can be said or hushed.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    Context context{{argv, static_cast<std::size_t>(argc)}};
    run(context);
    return context.exit_code;
  } catch (...) {
    return exit_code_of_current_exception();
  }
}
