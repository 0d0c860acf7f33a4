// Generates the man page and the shells' completions from the parser's verbs and flags.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/suggest.hpp"
#include "ops/lab/operator.hpp"
#include "verb.hpp"
#include "version.hpp"

namespace warpladder::app {
namespace {

// A verb with the words before it: "run sgemm".
struct Verb {
  std::string path;
  const CLI::App* app;
};

void add_below(const CLI::App& app, const std::string& path, std::vector<Verb>& verbs) {
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (child->get_group().empty()) continue;  // hidden
    verbs.push_back({path + (path.empty() ? "" : " ") + child->get_name(), child});
    add_below(*child, verbs.back().path, verbs);
  }
}

std::vector<Verb> verbs_of(const CLI::App& root) {
  std::vector<Verb> verbs;
  add_below(root, "", verbs);
  return verbs;
}

std::vector<const CLI::Option*> flags_of(const CLI::App& app) {
  std::vector<const CLI::Option*> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_lnames().empty() || !option->get_snames().empty()) flags.push_back(option);
  }
  return flags;
}

bool takes_value(const CLI::Option& flag) { return flag.get_items_expected_max() > 0; }

// "-a,--axis" as words.
std::vector<std::string> spellings(const CLI::Option& flag) {
  std::vector<std::string> words;
  for (const std::string& name : flag.get_snames()) words.push_back("-" + name);
  for (const std::string& name : flag.get_lnames()) words.push_back("--" + name);
  return words;
}

// Whether the verb takes operators and rungs as words.
bool takes_rungs(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && option->get_name(true).find("OP") != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> names_of_rungs() {
  std::vector<std::string> names;
  for (const auto& op : ops::all_operators()) names.push_back(op->name());
  for (const ladder::AnyRung& rung : ladder::all_rungs()) names.push_back(rung.full_name());
  return names;
}

// All words that may follow the verb, separated by blanks.
std::string words_after(const CLI::App& app) {
  std::vector<std::string> words;
  for (const Verb& below : verbs_of(app)) {
    if (below.path.find(' ') == below.path.npos) words.push_back(below.path);
  }
  for (const CLI::Option* flag : flags_of(app)) {
    for (const std::string& word : spellings(*flag)) words.push_back(word);
  }
  if (takes_rungs(app)) {
    for (const std::string& name : names_of_rungs()) words.push_back(name);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// Cases of a shell's `case`: which verb the words so far name, and what may follow it.
std::string paths_as_cases(const CLI::App& root) {
  std::string text;
  for (const Verb& verb : verbs_of(root)) {
    const std::size_t space = verb.path.rfind(' ');
    const std::string before = space == verb.path.npos ? "" : verb.path.substr(0, space);
    text +=
        fmt::format("      \"{} {}\") verb=\"{}\" ;;\n", before, verb.app->get_name(), verb.path);
  }
  return text;
}
std::string words_as_cases(const CLI::App& root) {
  std::string text = fmt::format("    \"\") known=\"{} help\" ;;\n", words_after(root));
  for (const Verb& verb : verbs_of(root)) {
    text += fmt::format("    \"{}\") known=\"{}\" ;;\n", verb.path, words_after(*verb.app));
  }
  return text;
}

std::string bash(const CLI::App& root) {
  return "# bash completion for warpladder\n"
         "_warpladder() {\n"
         "  local verb= word known=\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$verb $word\" in\n" +
         paths_as_cases(root) +
         "    esac\n"
         "  done\n"
         "  case \"$verb\" in\n" +
         words_as_cases(root) +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$known\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o default -F _warpladder warpladder\n";
}

std::string zsh(const CLI::App& root) {
  return "#compdef warpladder\n"
         "local verb= word known=\n"
         "for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
         "    case \"$verb $word\" in\n" +
         paths_as_cases(root) +
         "    esac\n"
         "done\n"
         "case \"$verb\" in\n" +
         words_as_cases(root) +
         "esac\n"
         "compadd -- ${=known}\n"
         "_files\n";
}

std::string in_single_quotes(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "\\'" : c == '\\' ? "\\\\" : std::string(1, c);
  return quoted + "'";
}

std::string fish(const CLI::App& root) {
  std::string text = "# fish completion for warpladder\n";
  for (const Verb& verb : verbs_of(root)) {
    const std::size_t space = verb.path.rfind(' ');
    const std::string after = space == verb.path.npos
                                  ? "__fish_use_subcommand"
                                  : "__fish_seen_subcommand_from " + verb.path.substr(0, space);
    text += fmt::format("complete -c warpladder -n '{}' -a {} -d {}\n", after, verb.app->get_name(),
                        in_single_quotes(verb.app->get_description()));
    const std::string seen = "__fish_seen_subcommand_from " + verb.app->get_name();
    for (const CLI::Option* flag : flags_of(*verb.app)) {
      std::string names;
      for (const std::string& name : flag->get_snames()) names += " -s " + name;
      for (const std::string& name : flag->get_lnames()) names += " -l " + name;
      text +=
          fmt::format("complete -c warpladder -n '{}'{}{} -d {}\n", seen, names,
                      takes_value(*flag) ? " -r" : "", in_single_quotes(flag->get_description()));
    }
    if (takes_rungs(*verb.app)) {
      text += fmt::format("complete -c warpladder -n '{}' -a '{}'\n", seen,
                          fmt::join(names_of_rungs(), " "));
    }
  }
  return text;
}

// A line's first dot or quote would be a request of roff; a dash is a minus there.
std::string roff(const std::string& text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    begins_line = c == '\n';
  }
  return out;
}

std::string flags_in_roff(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* flag : flags_of(app)) {
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n",
                        roff(fmt::format("{}", fmt::join(spellings(*flag), ", "))),
                        takes_value(*flag) ? " \\fI" + roff(flag->get_type_name()) + "\\fR" : "",
                        roff(flag->get_description()));
  }
  return text;
}

std::string man(const CLI::App& root) {
  std::string text = fmt::format(
      ".TH WARPLADDER 1 \"\" \"warpladder {}\" \"User Commands\"\n"
      ".SH NAME\nwarpladder \\- {}\n"
      ".SH SYNOPSIS\n.B warpladder\n\\fIVERB\\fR [\\fIFLAGS\\fR]\n"
      ".SH DESCRIPTION\n.nf\n{}\n.fi\n.SH OPTIONS\n{}.SH VERBS\n",
      kVersion, roff(root.get_description()), roff(root.get_footer()), flags_in_roff(root));
  for (const Verb& verb : verbs_of(root)) {
    text += fmt::format(".SS warpladder {}\n{}\n{}", roff(verb.path),
                        roff(verb.app->get_description() + "."), flags_in_roff(*verb.app));
    if (!verb.app->get_footer().empty()) {
      text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(verb.app->get_footer()));
    }
  }
  return text;
}

struct Kind {
  const char* name;
  std::string (*text)(const CLI::App& root);
};
constexpr Kind kKinds[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}, {"man", man}};

}  // namespace

void add_generate(CLI::App& app, Context&) {
  auto* verb = app.add_subcommand("generate", "The man page, or a shell's completion");
  const auto kind = std::make_shared<std::string>();
  verb->add_option("KIND", *kind, "bash, zsh, fish or man")->type_name("")->required();
  verb->callback([kind, &app] {
    std::vector<std::string> names;
    for (const Kind& known : kKinds) {
      if (*kind == known.name) return print_text(known.text(app));
      names.push_back(known.name);
    }
    throw_bad_input(fmt::format("generate does not know {}; it knows: {}",
                                in_quotes(*kind, kShownBytes), known_names(*kind, names)));
  });
}

}  // namespace warpladder::app
