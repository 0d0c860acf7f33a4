#include "programs/ptx.hpp"

#include <fmt/format.h>

#include <regex>
#include <vector>

namespace warpladder::programs {
namespace {

struct Instruction {
  const char* pattern;  // the text, spaces taken together
  const char* meaning;  // {0} … are the operands in the order of the statement
};
constexpr Instruction kInstructions[] = {
    {R"(mov\.[usb]32 %0, %%laneid;)", "{0} = ::simt::lane()"},
    {R"(mov\.[usb]32 %0, %%warpid;)", "{0} = ::simt::warp()"},
    {R"(mov\.[usb]32 %0, %%smid;)", "{0} = ::simt::block_rank() % 16"},
    {R"(mov\.[usb]32 %0, %%nsmid;)", "{0} = 16"},
    {R"(mov\.[usb]32 %0, %%lanemask_lt;)", "{0} = (1u << ::simt::lane()) - 1"},
    {R"(mov\.[usb]32 %0, %%lanemask_le;)", "{0} = (2u << ::simt::lane()) - 1"},
    {R"(mov\.[usb]32 %0, %%lanemask_eq;)", "{0} = 1u << ::simt::lane()"},
    {R"(mov\.[usb]64 %0, %%(?:globaltimer|clock64);)", "{0} = ::clock64()"},
    {R"(mov\.[usb]32 %0, %%clock;)", "{0} = (unsigned)::clock64()"},
    {R"(trap;)", "::program_trap()"},
    {R"(exit;)", "return"},
    {R"(bar\.sync 0;)", "::__syncthreads()"},
    {R"(membar\.(?:cta|gl|sys);)", "::__threadfence()"},
    {R"(fma\.rn\.f(?:32|64) %0, ?%1, ?%2, ?%3;)", "{0} = fma({1}, {2}, {3})"},
    {R"(add\.[us](?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) + ({2})"},
    {R"(add\.f(?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) + ({2})"},
    {R"(mul\.f(?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) * ({2})"},
    {R"(mad\.lo\.[us]32 %0, ?%1, ?%2, ?%3;)", "{0} = ({1}) * ({2}) + ({3})"},
    {R"(popc\.b32 %0, ?%1;)", "{0} = ::__popc({1})"},
    {R"(cp\.async\.commit_group;)", "::simt_cp_async_commit()"},
    {R"(cp\.async\.wait_all;)", "::simt_cp_async_wait(0)"},
    {R"(vabsdiff4\.u32\.u32\.u32\.add %0, ?%1, ?%2, ?%3;)",
     "{0} = ({3}) + ::simt::sum_of_bytes(::__vabsdiffu4({1}, {2}))"},
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

// The strings of the statement in one, and the operands in brackets behind them.
struct Statement {
  std::string text;
  std::vector<std::string> operands;
};
std::optional<Statement> parse(const std::string& inside) {
  static const std::regex strings(R"(^\s*((?:"(?:[^"\\]|\\.)*"\s*)+))");
  static const std::regex one(R"re("((?:[^"\\]|\\.)*)")re");
  static const std::regex operand(R"re("[=+&]*[a-z]"\s*\(((?:[^()]|\([^()]*\))*)\))re");
  std::smatch match;
  if (!std::regex_search(inside, match, strings)) return std::nullopt;
  Statement s;
  const std::string quoted = match[1], rest = match.suffix();
  for (std::sregex_iterator i(quoted.begin(), quoted.end(), one), end; i != end; ++i) {
    s.text += (*i)[1];
  }
  for (std::sregex_iterator i(rest.begin(), rest.end(), operand), end; i != end; ++i) {
    s.operands.push_back((*i)[1]);
  }
  s.text = replaced(replaced(s.text, "\\n", " "), "\\t", " ");
  s.text = std::regex_replace(s.text, std::regex(R"(\s+)"), " ");
  s.text = std::regex_replace(s.text, std::regex(R"(^ | $)"), "");
  s.text = replaced(s.text, " ;", ";");
  return s;
}

}  // namespace

std::optional<std::string> meaning_of_ptx(const std::string& inside) {
  static const std::regex waits(R"(cp\.async\.wait_group (\d+);)");
  static const std::regex name(R"([\w$.]+)");  // of a variable or function: no instruction
  const auto statement = parse(inside);
  if (!statement || statement->text.empty()) return std::nullopt;
  if (std::regex_match(statement->text, name)) return std::nullopt;
  std::smatch match;
  if (std::regex_match(statement->text, match, waits)) {
    return fmt::format("::simt_cp_async_wait({})", match[1].str());
  }
  for (const Instruction& known : kInstructions) {
    if (!std::regex_match(statement->text, std::regex(known.pattern))) continue;
    std::string meaning = known.meaning;
    for (std::size_t i = 0; i < statement->operands.size(); ++i) {
      meaning = replaced(meaning, fmt::format("{{{}}}", i), statement->operands[i]);
    }
    return meaning;
  }
  return std::string("::simt_unknown_ptx()");
}

}  // namespace warpladder::programs
