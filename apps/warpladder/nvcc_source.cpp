#include "nvcc_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/suggest.hpp"
#include "lab/compile_flow.hpp"
#include "ladder/ladder.hpp"

namespace warpladder::app {

namespace fs = std::filesystem;

std::string source_to_compile(const std::string& asked, const std::string& root,
                              const char* setting) {
  std::error_code absent;
  if (asked.ends_with(".cu")) {
    if (fs::is_regular_file(asked, absent)) return asked;
    throw_bad_input(in_quotes(asked) + " is no file");
  }
  const std::size_t slash = asked.find('/');
  if (slash == std::string::npos || asked.find('/', slash + 1) != std::string::npos) {
    throw_bad_input(
        fmt::format("{} is neither FILE.cu nor OP/RUNG", in_quotes(asked, kShownBytes)));
  }
  const fs::path rungs = fs::path(root) / "src/ops" / asked.substr(0, slash) / "rungs";
  for (const char* end : {".cu", ".sm90a.cu"}) {
    const fs::path file = rungs / (asked.substr(slash + 1) + end);
    if (fs::is_regular_file(file, absent)) return file.string();
  }
  // A name that the program knows is right: the folder is not.
  const auto names = names_of(ladder::all_rungs(), &ladder::AnyRung::full_name);
  const bool is_known = std::ranges::find(names, asked) != names.end();
  const std::string close = is_known ? "" : did_you_mean(asked, names);
  throw_bad_input(fmt::format(
      "{} has no source below {}{}", in_quotes(asked, kShownBytes), in_quotes(rungs.string()),
      close.empty() ? fmt::format("; {} names the folder of warpladder's sources", setting)
                    : close));
}

std::string default_architecture(const std::string& source) {
  return source.ends_with(".sm90a.cu") ? "90a" : "90";
}

void require_architecture(const char* flag, const std::string& architecture) {
  const bool is_good = architecture.size() >= 2 && architecture.size() <= 4 &&
                       architecture.find_first_not_of("0123456789") >= 2;
  if (!is_good || architecture.find_first_not_of("0123456789af") != std::string::npos) {
    throw_bad_input(fmt::format("{} has {}, but must be as in 80 or 90a", flag,
                                in_quotes(architecture, kShownBytes)));
  }
}

std::vector<std::string> flags_of_nvcc(const std::string& asked, const std::string& root) {
  std::vector<std::string> flags{"-std=c++20", "-lineinfo", "--expt-relaxed-constexpr"};
  if (!asked.ends_with(".cu")) {
    flags.insert(flags.end(), {"-I" + root + "/src", "-I" + root + "/include",
                               "-DWARPLADDER_FLAVOUR=gpu", "-DWARPLADDER_HOPPER_CODE=1"});
  }
  return flags;
}

std::string counts_text(const lab::Instructions& instructions) {
  std::vector<std::string> words;
  for (const lab::InstructionChange& each : lab::changes_between({}, instructions)) {
    words.push_back(fmt::format("{} {}", each.difference, each.opcode));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace warpladder::app
