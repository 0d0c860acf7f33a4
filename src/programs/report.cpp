#include "programs/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace warpladder::programs {
namespace {

std::string place_of(const Finding& f) {
  return f.file.empty() || f.line == 0 ? "(no line)" : fmt::format("{}:{}", f.file, f.line);
}

// "shared-memory race" → "shared-memory-race", as rules are named.
std::string rule_of(const Finding& f) {
  std::string rule = f.kind;
  for (char& c : rule) {
    if (c == ' ') c = '-';
  }
  return rule;
}

nlohmann::json location_of(const Finding& f) {
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", f.file}}},
            {"region", {{"startLine", std::max(1, f.line)}}}}}};
}

}  // namespace

std::string end_of(const Outcome& outcome) {
  const auto running = std::ranges::find(outcome.kernels, true, &KernelUse::is_running);
  const std::string during =
      running == outcome.kernels.end()
          ? ""
          : fmt::format(" while launch {} of {} ran", running->launched, running->name);
  if (outcome.signal) {
    return fmt::format("the program was ended by signal {} ({}){}", outcome.signal,
                       ::strsignal(outcome.signal), during);
  }
  return fmt::format("the program ended with exit code {}{}", outcome.status, during);
}

std::string as_gcc(const Outcome& outcome) {
  std::string text;
  for (const Finding& f : outcome.findings) {
    text += fmt::format("{}:{}:1: error: {} [{}]\n", f.file, f.line, text_of(f), rule_of(f));
  }
  for (const Finding& f : outcome.advice) {
    text += fmt::format("{}:{}:1: warning: {} [{}]\n", f.file, f.line, text_of(f), rule_of(f));
  }
  for (const Finding& f : outcome.notes) {
    text += fmt::format("{}:{}:1: note: {}\n", f.file, f.line, text_of(f));
  }
  return text;
}

nlohmann::json as_json(const Outcome& outcome) {
  nlohmann::json report{{"findings", nlohmann::json::array()},
                        {"advice", nlohmann::json::array()},
                        {"notes", nlohmann::json::array()},
                        {"kernels", nlohmann::json::array()},
                        {"program", {{"exit_code", outcome.status}, {"signal", outcome.signal}}}};
  for (const Finding& f : outcome.findings) {
    report["findings"].push_back({{"kind", f.kind},
                                  {"file", f.file},
                                  {"line", f.line},
                                  {"kernel", f.kernel},
                                  {"block", f.block},
                                  {"thread", f.thread},
                                  {"sentence", f.sentence},
                                  {"times", f.times}});
  }
  for (const Finding& f : outcome.advice) {
    report["advice"].push_back({{"kind", f.kind},
                                {"file", f.file},
                                {"line", f.line},
                                {"kernel", f.kernel},
                                {"sentence", f.sentence}});
  }
  for (const Finding& f : outcome.notes) {
    report["notes"].push_back({{"file", f.file}, {"line", f.line}, {"sentence", f.sentence}});
  }
  for (const KernelUse& k : outcome.kernels) {
    report["kernels"].push_back({{"kernel", k.name},
                                 {"launched", k.launched},
                                 {"checked", k.looked_at},
                                 {"left_out", k.left_out},
                                 {"seconds", k.seconds}});
  }
  return report;
}

nlohmann::json as_sarif(const Outcome& outcome, const std::string& version) {
  std::map<std::string, std::string> rules;
  nlohmann::json results = nlohmann::json::array();
  const auto add = [&](const std::vector<Finding>& list, const char* level) {
    for (const Finding& f : list) {
      rules[rule_of(f)] = f.kind;
      results.push_back({{"ruleId", rule_of(f)},
                         {"level", level},
                         {"message", {{"text", text_of(f)}}},
                         {"locations", {location_of(f)}}});
    }
  };
  add(outcome.findings, "error");
  add(outcome.advice, "warning");
  nlohmann::json described = nlohmann::json::array();
  for (const auto& [id, kind] : rules) {
    described.push_back({{"id", id}, {"shortDescription", {{"text", kind}}}});
  }
  const nlohmann::json driver{{"name", "warpladder"}, {"version", version}, {"rules", described}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", {{{"tool", {{"driver", driver}}}, {"results", results}}}}};
}

std::string as_text(const Outcome& outcome) {
  std::string text;
  for (const Finding& f : outcome.findings) {
    text += fmt::format("{}: {}: {}{}\n", place_of(f), f.kind, text_of(f),
                        f.times > 1 ? fmt::format(" ({} times)", f.times) : "");
  }
  for (const Finding& f : outcome.notes) {
    text += fmt::format("{}: note: {}\n", place_of(f), f.sentence);
  }
  std::uint64_t launched = 0, looked_at = 0;
  for (const KernelUse& k : outcome.kernels) {
    launched += k.launched;
    looked_at += k.looked_at;
  }
  if (outcome.findings.empty()) {
    const char* const noun = looked_at == 1 ? "launch" : "launches";
    text += launched == 0 ? std::string("No kernel was launched.\n")
            : launched == looked_at
                ? fmt::format("Nothing found in {} {}.\n", launched, noun)
                : fmt::format(
                      "Nothing found in {} of {} launches; the others repeat them or were "
                      "not asked for.\n",
                      looked_at, launched);
    if (outcome.status != 0) text += fmt::format("But {}.\n", end_of(outcome));
  }
  return text;
}

}  // namespace warpladder::programs
