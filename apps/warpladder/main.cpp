// The command line: declares the verbs and turns their exceptions into a sentence and an exit code.
// Each verb has a file in this folder.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <span>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/provenance.hpp"
#include "base/suggest.hpp"
#include "ops/lab/openblas_start.hpp"
#include "program_flags.hpp"
#include "verb.hpp"
#include "version.hpp"

namespace warpladder::app {
namespace {

// If the caller closed a standard descriptor, the next opened file would get its number, and the
// terminal's text.
void open_closed_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDWR);
  }
}

std::string version_line() {
  const nlohmann::json origin = provenance({});
  return fmt::format("warpladder {} (commit {})", kVersion, origin["commit"].get<std::string>());
}

// The words that no verb knows, without the mark before positional arguments.
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

// An empty value usually comes from an unset variable of a script, so it is refused.
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

// The names of an app's flags, with their dashes.
std::vector<std::string> flag_names_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

// The app of the words so far, "run sgemm" for example.
struct Reached {
  const CLI::App* app;
  std::string verb;
};
Reached reached(const CLI::App& root) {
  Reached at{&root, ""};
  while (!at.app->get_subcommands().empty()) {
    at.app = at.app->get_subcommands().front();
    at.verb += (at.verb.empty() ? "" : " ") + at.app->get_name();
  }
  return at;
}

std::string unknown_verb(const CLI::App& root, const std::string& word) {
  const std::vector<std::string> known = names_below(root);
  return fmt::format("unknown verb {}; the verbs are: {}", in_quotes(word, kShownBytes),
                     known_names(word, known));
}

// The sentence about an unknown argument.
std::string sentence_on_leftover(const CLI::App& root, const std::string& left) {
  const auto [app, verb] = reached(root);
  const std::string shown = in_quotes(left, kShownBytes);
  if (left.starts_with('-')) {
    return fmt::format("unknown flag {}; 'warpladder {}{}--help' lists the flags{}", shown, verb,
                       verb.empty() ? "" : " ",
                       did_you_mean(left.substr(0, left.find('=')), flag_names_of(*app)));
  }
  if (verb.empty()) return unknown_verb(root, left);
  const std::vector<std::string> known = names_below(*app);
  if (known.empty()) return fmt::format("{} does not take the argument {}", verb, shown);
  const auto is_left = [&](const auto& op) { return op->name() == left; };
  if (std::ranges::any_of(ops::all_operators(), is_left)) {
    return fmt::format("{} takes arrays of yours, and {} has none; verify and explain take it",
                       verb, left);
  }
  return fmt::format("{} does not know {}; it knows: {}", verb, shown, known_names(left, known));
}

// Our own sentence for CLI11's error.
std::string usage_sentence(const CLI::App& root, const CLI::ParseError& error) {
  // An unknown argument explains more than the missing one that it was meant to be.
  if (const auto left = leftovers(root); !left.empty()) {
    return sentence_on_leftover(root, left.front());
  }
  const auto [app, verb] = reached(root);
  const std::string known = fmt::format("{}", fmt::join(names_below(*app), ", "));
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

constexpr const char* kFooter =
    "Each verb has its own flags: warpladder VERB --help, or warpladder help VERB.\n"
    "\n"
    "Exit codes:\n"
    "  0  done; all that was checked is right\n"
    "  1  a check failed: a result is wrong, or slower or less accurate than asked for\n"
    "  2  bad usage or input\n"
    "  3  a device, memory or another resource is missing\n"
    "\n"
    "Environment:\n"
    "  WARPLADDER_DEVICE      what --device is by default\n"
    "  WARPLADDER_CACHE       the folder of compiled code, or 'off'\n"
    "  WARPLADDER_NVRTC       the file of NVRTC, which compiles for GPUs at run time\n"
    "  WARPLADDER_THREADS     what --threads is by default\n"
    "  WARPLADDER_MATRICES    a folder of .mtx files that spmv's verbs take too\n"
    "  WARPLADDER_SOURCE_DIR  where explain finds the sources that it quotes and compiles\n"
    "  NO_COLOR               no colours\n"
    "  COLUMNS                how wide text is, instead of the terminal's width";

// "help VERB" is "VERB --help".
std::vector<const char*> words_of(std::span<const char* const> argv, const CLI::App& app) {
  std::vector<const char*> words(argv.begin(), argv.end());
  if (words.size() < 2 || words[1] != std::string_view("help")) return words;
  words.erase(words.begin() + 1);
  const CLI::App* at = &app;
  for (const char* word : std::span(words).subspan(1)) {
    const std::vector<std::string> known = names_below(*at);
    if (std::ranges::find(known, word) == known.end()) throw_bad_input(unknown_verb(*at, word));
    at = at->get_subcommand(word);
  }
  words.push_back("--help");
  return words;
}

// Arguments after "--" belong to the user's program.
std::span<const char* const> split_at_dashes(Context& context) {
  const auto dashes = std::ranges::find(context.argv, std::string_view("--"));
  const auto own = static_cast<std::size_t>(dashes - context.argv.begin());
  if (own == context.argv.size()) return context.argv;
  context.program_arguments = context.argv.subspan(own + 1);
  return context.argv.first(own);
}

// CLI11 counts bytes; a column is as wide as its characters.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string name = make_option_name(option, is_positional) + make_option_opts(option);
    std::ostringstream line;
    CLI::detail::format_help(line, name, make_option_desc(option),
                             get_column_width() + name.size() - display_width(name));
    return line.str();
  }
};

void run(Context& context) {
  CLI::App app("CUDA operators, climbed rung by rung: checked, timed and explained.", "warpladder");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("-v,--version", version_line(), "Print the version and the commit");
  app.set_help_all_flag("--help-all", "Print the flags of all verbs");
  app.require_subcommand(1);
  app.footer(kFooter);
  const bool is_program = names_program(context.argv);
  for (const auto add :
       {add_list, add_doctor, is_program ? add_run_program : add_run, add_verify, add_bench,
        add_accuracy, is_program ? add_explain_program : add_explain, add_check, add_inspect,
        add_compare, add_report, add_build, add_tune, add_exercise, add_generate}) {
    add(app, context);
  }
  refuse_empty_values(app);
  const std::vector<const char*> words =
      words_of(is_program ? split_at_dashes(context) : context.argv, app);
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::CallForHelp&) {
    print_help(app.help());
  } catch (const CLI::CallForAllHelp&) {
    print_help(app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion& version) {
    print_line(version.what());
  } catch (const CLI::ParseError& error) {
    if (words.size() > 1) throw_bad_input(usage_sentence(app, error));
    std::fputs(app.help().c_str(), stderr);
    context.exit_code = static_cast<int>(ErrorCode::bad_input);
  }
}

// A sentence may quote user text of any length. The middle of long words, and of a long sentence,
// is cut.
std::string without_middle(const std::string& text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t head = limit / 2, tail = text.size() - limit / 2;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (head > 0 && continues(head)) --head;
  while (tail < text.size() && continues(tail)) ++tail;
  return text.substr(0, head) + "…" + text.substr(tail);
}

std::string shortened(const std::string& sentence) {
  constexpr std::size_t kLongestWord = 160, kLongestSentence = 1200;
  std::string text;
  for (std::size_t begin = 0, end; begin <= sentence.size(); begin = end + 1) {
    end = std::min(sentence.find(' ', begin), sentence.size());
    text += (begin ? " " : "") + without_middle(sentence.substr(begin, end - begin), kLongestWord);
  }
  return without_middle(text, kLongestSentence);
}

// One line, whatever bytes a file name holds; none may control the terminal.
void complain(const std::string& sentence) {
  end_progress();
  const std::string quoted = in_quotes(sentence);
  print_to_stderr("warpladder: " + shortened(quoted.substr(1, quoted.size() - 2)) + "\n");
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
  warpladder::ops::openblas_has_started();
  open_closed_standard_descriptors();
  handle_signals();
  try {
    Context context{{argv, static_cast<std::size_t>(argc)}};
    run(context);
    return context.exit_code;
  } catch (...) {
    return exit_code_of_current_exception();
  }
}
