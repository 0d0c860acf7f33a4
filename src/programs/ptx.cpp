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
    {R"((?:bar|barrier)\.sync(?:\.aligned)? (\d+), ?(\d+);)", "::simt_named_barrier($1, $2)"},
    {R"((?:bar|barrier)\.sync(?:\.aligned)? (\d+), ?%0;)", "::simt_named_barrier($1, {0})"},
    {R"((?:bar|barrier)\.sync(?:\.aligned)? %0, ?(\d+);)", "::simt_named_barrier({0}, $1)"},
    {R"((?:bar|barrier)\.sync(?:\.aligned)? %0, ?%1;)", "::simt_named_barrier({0}, {1})"},
    {R"(membar\.(?:cta|gl|sys);)", "::__threadfence()"},
    {R"(fma\.rn\.f(?:32|64) %0, ?%1, ?%2, ?%3;)", "{0} = fma({1}, {2}, {3})"},
    {R"(add\.[us](?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) + ({2})"},
    {R"(add\.f(?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) + ({2})"},
    {R"(mul\.f(?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) * ({2})"},
    {R"(mad\.lo\.[us]32 %0, ?%1, ?%2, ?%3;)", "{0} = ({1}) * ({2}) + ({3})"},
    {R"(popc\.b32 %0, ?%1;)", "{0} = ::__popc({1})"},
    {R"(cp\.async\.commit_group;)", "::simt_cp_async_commit()"},
    {R"(cp\.async\.wait_all;)", "::simt_cp_async_wait(0)"},
    {R"(cp\.async\.wait_group (\d+);)", "::simt_cp_async_wait($1)"},
    {R"(cp\.async\.wait_group %0;)", "::simt_cp_async_wait({0})"},
    {R"(\{ ?\.reg \.u64 (\w+); cvta\.to\.shared\.u64 \1, ?%1; cvt\.u32\.u64 %0, ?\1; ?\})",
     "{0} = ::simt_shared_address({1})"},
    {R"(mov\.[usb]32 %0, %%?clock;)", "{0} = (unsigned)::clock64()"},
    {R"(mov\.[usb]64 %0, %%?(?:globaltimer|clock64);)", "{0} = ::clock64()"},
    {R"(mov\.[usb]32 %0, %%?lanemask_lt;)", "{0} = (1u << ::simt::lane()) - 1"},
    {R"(mov\.[usb]32 %0, %%lanemask_gt;)", "{0} = ~((2u << ::simt::lane()) - 1)"},
    {R"(mov\.[usb]32 %0, %%lanemask_ge;)", "{0} = ~((1u << ::simt::lane()) - 1)"},
    {R"(mov\.[usb]32 %0, %%tid\.([xyz]);)", "{0} = ::simt_thread_idx().$1"},
    {R"(mov\.[usb]32 %0, %%ctaid\.([xyz]);)", "{0} = ::simt_block_idx().$1"},
    {R"(mov\.[usbf](?:32|64) %0, ?%1;)", "{0} = {1}"},
    {R"(bar\.warp\.sync (?:0xffffffff|-1);)", "::__syncwarp()"},
    {R"(fence\.\S+;)", "::__threadfence()"},
    {R"(add\.rn\.f(?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) + ({2})"},
    {R"(sub\.(?:rn\.)?[usf](?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) - ({2})"},
    {R"(mul\.(?:rn\.|lo\.)[usf](?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) * ({2})"},
    {R"(and\.b(?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) & ({2})"},
    {R"(or\.b(?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) | ({2})"},
    {R"(xor\.b(?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) ^ ({2})"},
    {R"(shl\.b(?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) << ({2})"},
    {R"(shr\.[ub](?:32|64) %0, ?%1, ?%2;)", "{0} = ({1}) >> ({2})"},
    {R"(vabsdiff4\.u32\.u32\.u32\.add %0, ?%1, ?%2, ?%3;)",
     "{0} = ({3}) + ::simt::sum_of_bytes(::__vabsdiffu4({1}, {2}))"},
};

// Instructions that are functions of simt/ptx.hpp; their operands go in the order of the text.
struct Function {
  const char* opcode;
  const char* name;
};
#define CACHE                                                                                   \
  R"((?:\.(?:volatile|relaxed|acquire|release|weak|cta|gpu|sys|ca|cg|cs|cv|lu|wb|wt|nc|global)" \
  R"(|L1::\w+|L2::\w+))*)"
#define TYPE R"(\.[usbf](?:32|64))"
constexpr Function kFunctions[] = {
    {R"(cp\.async\.c[ag]\.shared(?:::cta)?\.global(?:\.L2::\d+B)?)", "cp_async"},
    {R"(ldmatrix\.sync\.aligned\.(?:m8n8\.)?x1(?:\.m8n8)?\.shared(?:::cta)?\.b16)", "ldmatrix_x1"},
    {R"(ldmatrix\.sync\.aligned\.(?:m8n8\.)?x2(?:\.m8n8)?\.shared(?:::cta)?\.b16)", "ldmatrix_x2"},
    {R"(ldmatrix\.sync\.aligned\.(?:m8n8\.)?x4(?:\.m8n8)?\.shared(?:::cta)?\.b16)", "ldmatrix_x4"},
    {R"(ldmatrix\.sync\.aligned\.(?:m8n8\.)?x1\.trans(?:\.m8n8)?\.shared(?:::cta)?\.b16)",
     "ldmatrix_x1_trans"},
    {R"(ldmatrix\.sync\.aligned\.(?:m8n8\.)?x2\.trans(?:\.m8n8)?\.shared(?:::cta)?\.b16)",
     "ldmatrix_x2_trans"},
    {R"(ldmatrix\.sync\.aligned\.(?:m8n8\.)?x4\.trans(?:\.m8n8)?\.shared(?:::cta)?\.b16)",
     "ldmatrix_x4_trans"},
    {R"(mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.f16\.f16\.f32)", "mma_f32_f16"},
    {R"(mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.bf16\.bf16\.f32)", "mma_f32_bf16"},
    {R"(mma\.sync\.aligned\.m16n8k8\.row\.col\.f32\.tf32\.tf32\.f32)", "mma_f32_tf32"},
    {R"(mma\.sync\.aligned\.m16n8k16\.row\.col\.f16\.f16\.f16\.f16)", "mma_f16_f16"},
    {R"(mma\.sync\.aligned\.m8n8k4\.row\.col\.f64\.f64\.f64\.f64)", "mma_f64"},
    {"ld" CACHE TYPE, "load"},
    {"ld" CACHE R"(\.v2)" TYPE, "load_v2"},
    {"ld" CACHE R"(\.v4)" TYPE, "load_v4"},
    {"st" CACHE TYPE, "store"},
    {"st" CACHE R"(\.v2)" TYPE, "store_v2"},
    {"st" CACHE R"(\.v4)" TYPE, "store_v4"},
    {R"(ld\.(?:volatile\.)?shared(?:::cta)?)" TYPE, "load_shared"},
    {R"(st\.(?:volatile\.)?shared(?:::cta)?)" TYPE, "store_shared"},
    {R"(lop3\.b32)", "lop3"},
    {R"(bfind\.u32)", "bfind"},
    {R"(bfe\.u32)", "bfe"},
    {R"(bfi\.b32)", "bfi"},
    {R"(prmt\.b32)", "prmt"},
    {R"(brev\.b32)", "brev"},
    {R"(clz\.b32)", "clz"},
    {R"(ex2\.approx(?:\.ftz)?\.f32)", "ex2"},
    {R"(lg2\.approx(?:\.ftz)?\.f32)", "lg2"},
    {R"(rcp\.(?:approx|rn)(?:\.ftz)?\.f32)", "rcp"},
    {R"(rsqrt\.approx(?:\.ftz)?\.f32)", "rsqrt"},
    {R"(sqrt\.(?:approx|rn)(?:\.ftz)?\.f32)", "sqrt"},
    {R"(sin\.approx(?:\.ftz)?\.f32)", "sine"},
    {R"(cos\.approx(?:\.ftz)?\.f32)", "cosine"},
    {R"(tanh\.approx\.f32)", "tanh"},
    {R"(cvt\.rna\.tf32\.f32)", "to_tf32"},
    {R"(cvt\.rn\.f16x2\.f32)", "cvt_f16x2"},
    {R"(mul\.wide\.u32)", "mul_wide"},
    {R"(mul\.wide\.s32)", "mul_wide_signed"},
    {R"(mul\.hi\.u32)", "mul_hi"},
    {R"(mul\.hi\.s32)", "mul_hi_signed"},
    {"min" TYPE, "minimum"},
    {"max" TYPE, "maximum"},
    {R"(shfl\.sync\.bfly\.b32)", "shfl_bfly"},
    {R"(shfl\.sync\.down\.b32)", "shfl_down"},
    {R"(shfl\.sync\.up\.b32)", "shfl_up"},
    {R"(shfl\.sync\.idx\.b32)", "shfl_idx"},
    {R"(red(?:\.relaxed|\.release)?(?:\.gpu|\.sys)?(?:\.global)?(?:\.gpu)?\.add\.[usf]32)",
     "red_add"},
    {R"(atom(?:\.relaxed|\.acq_rel)?(?:\.gpu|\.sys)?(?:\.global)?(?:\.gpu)?\.add\.[usf]32)",
     "atom_add"},
};
#undef CACHE
#undef TYPE

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
std::optional<Statement> parse(std::string inside) {
  inside = replaced(inside, "\\\n", "\n");  // of a macro
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

// Of one instruction, without its semicolon, as a function; `{0}` stands for an operand.
std::optional<std::string> as_function(const std::string& instruction) {
  static const std::regex parts(R"(^([\w.:]+) (.*)$)"),
      token(R"(%(\d+)|\b(?:0x[0-9a-fA-F]+|\d+)\b)");
  static const std::vector<std::pair<std::regex, const char*>> functions = [] {
    std::vector<std::pair<std::regex, const char*>> all;
    for (const Function& f : kFunctions) all.emplace_back(std::regex(f.opcode), f.name);
    return all;
  }();
  std::smatch match;
  if (!std::regex_match(instruction, match, parts)) return std::nullopt;
  const std::string opcode = match[1], operands = match[2];
  for (const auto& [pattern, name] : functions) {
    if (!std::regex_match(opcode, pattern)) continue;
    std::string arguments;
    for (std::sregex_iterator i(operands.begin(), operands.end(), token), end; i != end; ++i) {
      if (!arguments.empty()) arguments += ", ";
      arguments += (*i)[1].matched ? fmt::format("{{{}}}", (*i)[1].str()) : i->str();
    }
    return fmt::format("::simt::ptx::{}({})", name, arguments);
  }
  return std::nullopt;
}

std::optional<std::string> as_expression(const std::string& statement) {
  static const std::vector<std::pair<std::regex, const char*>> known = [] {
    std::vector<std::pair<std::regex, const char*>> all;
    for (const Instruction& i : kInstructions) all.emplace_back(std::regex(i.pattern), i.meaning);
    return all;
  }();
  for (const auto& [pattern, meaning] : known) {
    if (std::regex_match(statement, pattern)) {
      return std::regex_replace(statement, pattern, meaning);
    }
  }
  return std::nullopt;
}

// Several instructions, none with registers of its own, are done one after the other.
std::optional<std::string> meaning_of_text(const std::string& text) {
  if (auto whole = as_expression(text)) return whole;
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(';', at), text.size());
    std::string one = text.substr(at, end - at);
    at = end + 1;
    one.erase(0, one.find_first_not_of(' '));
    if (one.empty()) continue;
    auto meaning = as_function(one);
    if (!meaning) meaning = as_expression(one + ";");
    if (!meaning) return std::nullopt;
    all += (all.empty() ? "" : ", ") + *meaning;
  }
  return all;
}

}  // namespace

std::optional<std::string> meaning_of_ptx(const std::string& inside) {
  static const std::regex name(R"([\w$.]+)");  // of a variable or function: no instruction
  const auto statement = parse(inside);
  if (!statement || statement->text.empty()) return std::nullopt;
  if (std::regex_match(statement->text, name)) return std::nullopt;
  auto meaning = meaning_of_text(statement->text);
  if (!meaning) return std::string("::simt_unknown_ptx()");
  for (std::size_t i = 0; i < statement->operands.size(); ++i) {
    *meaning = replaced(*meaning, fmt::format("{{{}}}", i), statement->operands[i]);
  }
  return meaning;
}

}  // namespace warpladder::programs
