#include "programs/rewrite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <utility>

#include "programs/lockstep.hpp"
#include "programs/ptx.hpp"
#include "programs/source_text.hpp"

namespace warpladder::programs {
namespace {

// A part of a text, and what takes its place.
struct Edit {
  std::size_t begin, end;
  std::string with;
};

// As many line ends as the part had: the lines behind it stay where they are. Within a macro each
// is continued.
void keep_lines(std::string_view text, Edit& edit) {
  const std::string_view old = text.substr(edit.begin, edit.end - edit.begin);
  auto missing = std::ranges::count(old, '\n') - std::ranges::count(edit.with, '\n');
  const bool in_macro = old.find("\\\n") != kNone;
  for (; missing > 0; --missing) edit.with += in_macro ? "\\\n" : "\n";
}

std::string edited(std::string_view text, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, &Edit::begin);
  std::string out;
  std::size_t at = 0;
  for (Edit& edit : edits) {
    if (edit.begin < at) continue;  // within one that has been made
    keep_lines(text, edit);
    out += text.substr(at, edit.begin - at);
    out += edit.with;
    at = edit.end;
  }
  return out += text.substr(at);
}

std::string replace_words(std::string text, std::string_view word, std::string_view with) {
  const std::string b = blanked(text);
  std::vector<Edit> edits;
  for (std::size_t at = 0; (at = find_word(b, word, at)) != kNone; at += word.size()) {
    edits.push_back({at, at + word.size(), std::string(with)});
  }
  return edits.empty() ? text : edited(text, std::move(edits));
}

// ---- launches

// "<< <" and ">> >", as a formatter that knows no CUDA leaves them.
std::string join_brackets(std::string text) {
  const std::string b = blanked(text);
  std::vector<Edit> edits;
  const auto join = [&](std::string_view first, char last, std::string_view whole) {
    for (std::size_t at = 0; (at = b.find(first, at)) != kNone; at += first.size()) {
      std::size_t next = at + first.size();
      while (next < b.size() && (b[next] == ' ' || b[next] == '\t')) ++next;
      if (next == at + first.size() || next >= b.size() || b[next] != last) continue;
      const bool opens = last == '<';
      if (opens ? b.substr(at).find(">>") == kNone : b[skip_spaces(b, next + 1)] != '(') continue;
      edits.push_back({at, next + 1, std::string(whole)});
    }
  };
  join("<<", '<', "<<<");
  join(">>", '>', ">>>");
  return edits.empty() ? text : edited(text, std::move(edits));
}

// Where the expression that ends in front of `end` begins: names, scopes, members, template
// arguments, and what is in brackets.
std::size_t expression_begin(std::string_view b, std::size_t end) {
  std::size_t at = skip_spaces_back(b, end);
  for (;;) {
    if (at && b[at - 1] == '>') {
      const std::size_t open = opening(b, at - 1, '<');
      if (open == kNone) return at;
      at = skip_spaces_back(b, open);
    }
    if (at && (b[at - 1] == ')' || b[at - 1] == ']')) {
      const std::size_t open = opening(b, at - 1, b[at - 1] == ')' ? '(' : '[');
      if (open == kNone) return at;
      at = skip_spaces_back(b, open);
    }
    at = word_begin(b, at);
    const std::size_t before = skip_spaces_back(b, at);
    const std::string_view two = b.substr(before < 2 ? 0 : before - 2, before < 2 ? before : 2);
    if (two == "::" || two == "->") {
      const std::size_t scope = skip_spaces_back(b, before - 2);
      if (scope == 0 || !(is_word(b[scope - 1]) || b[scope - 1] == '>' || b[scope - 1] == ')')) {
        return before - 2;
      }
      at = scope;
    } else if (before && b[before - 1] == '.') {
      at = skip_spaces_back(b, before - 1);
    } else {
      return at;
    }
  }
}

// The ">>>" that closes a launch's shape, from the text behind "<<<" on.
std::size_t shape_end(std::string_view b, std::size_t at) {
  int depth = 0;
  for (; at < b.size() && b[at] != ';'; ++at) {
    if (b[at] == '(' || b[at] == '[' || b[at] == '{') ++depth;
    if (b[at] == ')' || b[at] == ']' || b[at] == '}') --depth;
    if (depth == 0 && b.substr(at, 3) == ">>>") return at;
  }
  return kNone;
}

std::string in_one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_space(c) || c == '"') {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += c;
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

// Whether what is launched is a pointer to a kernel: a variable, a member, an element of an array,
// or what stands in brackets. The host looks it up once; a kernel could not.
bool is_pointer(std::string_view launched, const std::set<std::string>& kernels) {
  const std::size_t end = skip_spaces_back(launched, launched.size());
  if (end == 0 || kernels.empty()) return false;
  if (launched[end - 1] == ']') return true;
  if (launched[end - 1] == ')') return opening(launched, end - 1, '(') == 0;
  const std::size_t begin = word_begin(launched, end);
  return begin < end && !kernels.contains(std::string(launched.substr(begin, end - begin)));
}

std::string rewrite_launches(std::string text, const std::set<std::string>& kernels) {
  const std::string blank = blanked(text);
  const std::string_view b = blank;
  std::vector<Edit> edits;
  for (std::size_t at = 0; (at = b.find("<<<", at)) != kNone; at += 3) {
    const std::size_t end = shape_end(b, at + 3);
    if (end == kNone) continue;
    const std::size_t open = skip_spaces(b, end + 3);
    if (open >= b.size() || b[open] != '(') continue;
    const std::size_t close = closing(b, open);
    if (close == kNone) continue;
    const std::size_t begin = expression_begin(b, at);
    const std::string kernel = text.substr(begin, at - begin);
    const std::string shape = text.substr(at + 3, end - at - 3);
    const std::string arguments =
        replace_words(text.substr(open + 1, close - open - 1), "NULL", "nullptr");
    const bool none = skip_spaces(blanked(arguments), 0) == arguments.size();
    const std::string shown = in_one_line(kernel), more = none ? "" : ", " + arguments;
    if (is_pointer(shown, kernels)) {
      edits.push_back({begin, close + 1,
                       fmt::format("::simt::launch_pointer(::simt::shape({}), {}{})", shape,
                                   kernel.substr(skip_spaces(kernel, 0)), more)});
      continue;
    }
    edits.push_back(
        {begin, close + 1,
         fmt::format("::simt::launch(::simt::shape({}), \"{}\", [=](auto&... simt_a) {{ "
                     "{}(simt_a...); }}{})",
                     shape, shown, kernel, more)});
  }
  return edits.empty() ? text : edited(text, std::move(edits));
}

// ---- kernels that are called like functions

// Where the parameters of the kernel begin that is declared at `at`; kNone where none is. The name
// stands in front of them; __launch_bounds__ has brackets of its own.
std::size_t parameters_begin(std::string_view b, std::size_t at) {
  std::size_t open = b.find('(', at);
  while (open != kNone) {
    const std::size_t end = skip_spaces_back(b, open), begin = word_begin(b, end);
    const std::string_view name = b.substr(begin, end - begin);
    if (name != "__launch_bounds__" && name != "__attribute__" && name != "__maxnreg__") break;
    const std::size_t close = closing(b, open);
    open = close == kNone ? kNone : b.find('(', close);
  }
  return open;
}

std::string kernel_name(std::string_view b, std::size_t parameters) {
  const std::size_t end = skip_spaces_back(b, parameters), begin = word_begin(b, end);
  return std::string(b.substr(begin, end - begin));
}

// A kernel that has a pointer to it begins by asking whether it was launched.
std::string guard_pointed_to(std::string text, const std::set<std::string>& pointed_to) {
  const std::string b = blanked(text);
  std::vector<Edit> edits;
  for (std::size_t at = 0; (at = find_word(b, "__global__", at)) != kNone; at += 10) {
    const std::size_t open = parameters_begin(b, at);
    const std::size_t close = open == kNone ? kNone : closing(b, open);
    const std::size_t body = close == kNone ? kNone : skip_spaces(b, close + 1);
    if (body >= b.size() || b[body] != '{') continue;
    const std::string name = kernel_name(b, open);
    if (!pointed_to.contains(name)) continue;
    edits.push_back(
        {body + 1, body + 1,
         fmt::format(" ::program_enter_kernel(\"{}\", __builtin_return_address(0));", name)});
  }
  return edits.empty() ? text : edited(text, std::move(edits));
}

// ---- shared memory

// How many braces of functions and classes enclose the place; namespaces do not count.
int brace_depth(std::string_view b, std::size_t place) {
  static const std::regex is_namespace(R"((?:\bnamespace(?:\s+[\w:]+)?|\bextern)\s*$)");
  std::vector<bool> counts;
  for (std::size_t at = 0; at < place; ++at) {
    if (b[at] == '{') {
      const std::size_t from = at < 80 ? 0 : at - 80;
      const std::string before(b.substr(from, at - from));
      counts.push_back(!std::regex_search(before, is_namespace));
    } else if (b[at] == '}' && !counts.empty()) {
      counts.pop_back();
    }
  }
  return static_cast<int>(std::ranges::count(counts, true));
}

// In a function: a pointer, because templates lose an assembler name. At file scope: the
// executor's array by that name.
std::optional<Edit> dynamic_shared(std::string_view text, std::string_view b, std::size_t begin,
                                   std::size_t end) {
  static const std::regex attributes(R"((?:__align__|alignas|__attribute__)\s*\(+[^()]*\)+)");
  static const std::regex array(R"(\s*([\s\S]*?)(\w+)\s*\[\s*\]\s*)");
  if (b.substr(begin, end - begin).find('[') == kNone) return std::nullopt;
  std::string declaration(text.substr(begin, end - begin));
  declaration = replace_words(replace_words(declaration, "extern", ""), "__shared__", "");
  const std::string plain = std::regex_replace(declaration, attributes, "");
  std::smatch match;
  if (std::regex_match(plain, match, array) && brace_depth(b, begin)) {
    const std::string type = in_one_line(match[1].str());
    return Edit{
        begin, end,
        fmt::format("{}* const {} = ({}*)::simt_dynamic_shared()", type, match[2].str(), type)};
  }
  return Edit{
      begin, end,
      fmt::format("extern thread_local {} __asm__(\"warpladder_dynamic_shared\")", declaration)};
}

std::string rewrite_shared(std::string text) {
  const std::string b = blanked(text);
  std::vector<Edit> edits;
  for (std::size_t at = 0; (at = find_word(b, "extern", at)) != kNone; at += 6) {
    const std::size_t end = b.find_first_of(";{}=", at);
    if (end == kNone || b[end] != ';') continue;
    const std::size_t before = skip_spaces_back(b, at);
    const std::size_t word = word_begin(b, before);
    const bool turned = b.substr(word, before - word) == "__shared__";
    const std::size_t shared = find_word(b, "__shared__", at);
    if (!turned && (shared == kNone || shared > end)) continue;
    if (auto edit = dynamic_shared(text, b, turned ? word : at, end)) {
      edits.push_back(std::move(*edit));
    }
  }
  for (std::size_t at = 0; (at = find_word(b, "__shared__", at)) != kNone; at += 10) {
    const std::size_t before = skip_spaces_back(b, at), word = word_begin(b, before);
    if (b.substr(word, before - word) == "static") edits.push_back({word, before, ""});
    const std::size_t next = skip_spaces(b, at + 10);
    // Zero-initialised constants: __shared__ variables have no initial value.
    if (is_word_at(b, next, "const")) edits.push_back({next, next + 5, ""});
    // g++ takes alignas only in front of the other specifiers.
    if (!is_word_at(b, next, "alignas")) continue;
    const std::size_t close = closing(b, next);
    if (close == kNone) continue;
    edits.push_back({at, at, text.substr(next, close + 1 - next) + " "});
    edits.push_back({next, close + 1, ""});
  }
  return edits.empty() ? text : edited(text, std::move(edits));
}

// ---- other words

// A constant that is const already lies among the read-only data, not in a section of its own.
std::string rewrite_constants(std::string text) {
  const std::string b = blanked(text);
  std::vector<Edit> edits;
  for (std::size_t at = 0; (at = find_word(b, "__constant__", at)) != kNone; at += 12) {
    std::size_t begin = at;
    while (begin > 0 && b[begin - 1] != ';' && b[begin - 1] != '}' && b[begin - 1] != '{' &&
           b[begin - 1] != '\n') {
      --begin;
    }
    const std::size_t end = b.find_first_of(";={[(", at);
    const std::size_t constant = find_word(b, "const", begin);
    const std::size_t expression = find_word(b, "constexpr", begin);
    if ((constant != kNone && constant < end) || (expression != kNone && expression < end)) {
      edits.push_back({at, at + 12, ""});
    }
  }
  return edits.empty() ? text : edited(text, std::move(edits));
}

// Host variables and members called like CUDA's, of which the headers make macros.
std::string rename_shadows(std::string text) {
  static const std::regex declared(
      R"(\b(?:dim3|uint3|int|unsigned|auto)\s+(blockDim|gridDim|blockIdx|threadIdx)\s*[=({;,])");
  static const std::regex member(R"((\.|->)\s*(gridDim|blockDim)\b)");
  text = std::regex_replace(text, member, "$1simt_$2");
  std::string b = blanked(text);
  std::smatch match;
  std::size_t from = 0;
  for (std::string rest = b; std::regex_search(rest, match, declared); rest = b.substr(from)) {
    const std::size_t begin = from + static_cast<std::size_t>(match.position());
    const std::string name = match[1];
    int depth = 0;
    std::size_t end = begin;
    while (end < b.size() && depth >= 0) {
      depth += (b[end] == '{') - (b[end] == '}');
      ++end;
    }
    const std::string scope = replace_words(text.substr(begin, end - begin), name, "simt_" + name);
    text.replace(begin, end - begin, scope);
    b = blanked(text);
    from = begin + static_cast<std::size_t>(match.length());
  }
  return text;
}

// cudaLaunchKernel((void*)kernel, …) and node.func = (void*)kernel must keep the kernel's type.
std::string uncast_kernels(std::string text) {
  static const std::regex cast(
      R"((cudaLaunch(?:Cooperative)?Kernel\s*\(\s*)\(\s*(?:const\s+)?void\s*\*+\s*\))");
  static const std::regex in_node(R"((\.\s*func\s*=\s*)\(\s*(?:const\s+)?void\s*\*+\s*\))");
  if (text.find("cudaKernelNodeParams") != kNone) text = std::regex_replace(text, in_node, "$1");
  if (text.find("cudaLaunch") == kNone) return text;
  return std::regex_replace(text, cast, "$1");
}

std::string rewrite_assembly(std::string text) {
  const std::string b = blanked(text);
  std::vector<Edit> edits;
  for (const std::string_view word : {"asm", "__asm__", "__asm"}) {
    for (std::size_t at = 0; (at = find_word(b, word, at)) != kNone; at += word.size()) {
      std::size_t open = skip_spaces(b, at + word.size());
      for (const std::string_view qualifier : {"volatile", "__volatile__"}) {
        if (is_word_at(b, open, qualifier)) open = skip_spaces(b, open + qualifier.size());
      }
      if (open >= b.size() || b[open] != '(') continue;
      const std::size_t close = closing(b, open);
      if (close == kNone) continue;
      if (auto meaning = meaning_of_ptx(text.substr(open + 1, close - open - 1))) {
        edits.push_back({at, close + 1, std::move(*meaning)});
      }
    }
  }
  return edits.empty() ? text : edited(text, std::move(edits));
}

// The ' of 1'000.
bool is_digit_separator(std::string_view source, std::size_t at) {
  return at > 0 && std::isxdigit(static_cast<unsigned char>(source[at - 1]));
}

}  // namespace

std::string blanked(std::string_view source) {
  std::string out(source);
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < std::min(end, out.size()); ++i) {
      if (out[i] != '\n') out[i] = ' ';
    }
  };
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view left = source.substr(at);
    std::size_t end = at + 1;
    if (left.starts_with("//")) {
      for (end = at; end < source.size() && source[end] != '\n';)
        end += source[end] == '\\' ? 2 : 1;
      blank(at, end);
    } else if (left.starts_with("/*")) {
      const std::size_t close = source.find("*/", at + 2);
      end = close == kNone ? source.size() : close + 2;
      blank(at, end);
    } else if (left.starts_with("R\"") && (at == 0 || !is_word(source[at - 1]))) {
      const std::size_t open = source.find('(', at);
      const std::string close = fmt::format("){}\"", source.substr(at + 2, open - at - 2));
      const std::size_t found = open == kNone ? kNone : source.find(close, open);
      end = found == kNone ? source.size() : found + close.size();
      blank(at + 2, end - 1);
    } else if (left[0] == '"' || (left[0] == '\'' && !is_digit_separator(source, at))) {
      for (end = at + 1; end < source.size() && source[end] != left[0] && source[end] != '\n';) {
        end += source[end] == '\\' ? 2 : 1;
      }
      blank(at + 1, end);  // the quotes stay: what is in between is something
      ++end;
    }
    at = end;
  }
  return out;
}

std::vector<std::string> included_names(std::string_view source) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at != kNone && at < source.size();) {
    const std::size_t end = source.find('\n', at);
    std::string_view row = source.substr(at, end == kNone ? kNone : end - at);
    at = end == kNone ? kNone : end + 1;
    row.remove_prefix(std::min(row.find_first_not_of(" \t"), row.size()));
    if (!row.starts_with('#')) continue;
    row.remove_prefix(1);
    row.remove_prefix(std::min(row.find_first_not_of(" \t"), row.size()));
    if (!row.starts_with("include")) continue;
    const std::size_t open = row.find_first_of("<\"");
    if (open == kNone) continue;
    const std::size_t close = row.find_first_of(">\"", open + 1);
    if (close != kNone) names.emplace_back(row.substr(open + 1, close - open - 1));
  }
  return names;
}

std::string rewritten(std::string_view source, const std::set<std::string>& kernels,
                      const std::set<std::string>& pointed_to) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (source.starts_with(kByteOrderMark)) source.remove_prefix(kByteOrderMark.size());
  std::string text =
      replace_words(std::string(source), "__noinline__", "__attribute__((noinline))");
  text = join_brackets(std::move(text));
  text = mark_volatile(std::move(text));
  text = rename_shadows(std::move(text));
  text = rewrite_launches(std::move(text), kernels);
  text = guard_pointed_to(std::move(text), pointed_to);
  text = rewrite_shared(std::move(text));
  text = rewrite_constants(std::move(text));
  text = uncast_kernels(std::move(text));
  return rewrite_assembly(std::move(text));
}

std::set<std::string> kernel_names(std::string_view source) {
  const std::string b = blanked(source);
  std::set<std::string> names;
  for (std::size_t at = 0; (at = find_word(b, "__global__", at)) != kNone; at += 10) {
    const std::size_t open = parameters_begin(b, at);
    if (open == kNone) continue;
    if (std::string name = kernel_name(b, open); !name.empty()) names.insert(std::move(name));
  }
  return names;
}

std::set<std::string> pointed_to(std::string_view source, const std::set<std::string>& kernels) {
  const std::string b = blanked(source);
  std::set<std::string> names;
  for (const std::string& name : kernels) {
    for (std::size_t at = 0; (at = find_word(b, name, at)) != kNone; at += name.size()) {
      const std::size_t next = skip_spaces(b, at + name.size());
      if (next >= b.size() || b[next] == '(' || b.compare(next, 3, "<<<") == 0) continue;
      if (b[next] == '<') {
        const std::size_t launch = b.find("<<<", next);
        const std::size_t end = b.find_first_of(";{}", next);
        if (launch < end && b[skip_spaces_back(b, launch) - 1] == '>') continue;
      }
      names.insert(name);
      break;
    }
  }
  return names;
}

std::vector<Use> uses_of(std::string_view source, const std::set<std::string>& kernels) {
  const std::string b = blanked(source);
  std::vector<Use> uses;
  for (const std::string& name : kernels) {
    for (std::size_t at = 0; (at = find_word(b, name, at)) != kNone; at += name.size()) {
      const std::size_t open = skip_spaces(b, at + name.size());
      if (open >= b.size() || b[open] != '(') continue;
      const std::size_t before = skip_spaces_back(b, at);
      const char last = before ? b[before - 1] : ';';
      const auto line =
          std::count(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
      if (last == ';' || last == '{' || last == '}') {
        uses.push_back({name, static_cast<int>(line), true});
      } else if (is_word(last) || last == '*' || last == '&') {
        const std::size_t statement = b.find_last_of(";{}", before);
        const std::size_t from = statement == kNone ? 0 : statement;
        const std::size_t mark = find_word(b, "__global__", from);
        if (mark == kNone || mark > at) uses.push_back({name, static_cast<int>(line), false});
      }
    }
  }
  return uses;
}

}  // namespace warpladder::programs
