#include "lab/compiled_code.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <regex>

namespace warpladder::lab {
namespace {

// The lines of a text, without their ends.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    visit(std::string(text.substr(begin, end - begin)));
    begin = end + 1;
  }
}

// The number before `words`, or 0.
std::size_t number_before(const std::string& line, const char* words) {
  const std::size_t at = line.find(words);
  if (at == line.npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1]))) --begin;
  return begin == at ? 0 : std::strtoull(line.c_str() + begin, nullptr, 10);
}

// The modifiers that change what an instruction is; the others say how.
std::string opcode_of(std::string word) {
  static const std::string kept[] = {"MUFU.",  "LDG.E.64", "LDG.E.128", "STG.E.64", "STG.E.128",
                                     "LDS.64", "LDS.128",  "STS.64",    "STS.128"};
  for (const std::string& name : kept) {
    if (!word.starts_with(name)) continue;
    return name.ends_with('.') ? word : name;
  }
  return word.substr(0, word.find('.'));
}

// The instruction of a line of the disassembly, or empty:  /*0090*/  @!P0 LDC.64 R4, c[0x0][0x218]
// ;
std::string instruction_of(const std::string& line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == line.npos || line.compare(at, 2, "/*") != 0) return "";
  at = line.find("*/", at);
  if (at == line.npos) return "";
  at = line.find_first_not_of(" \t{", at + 2);
  if (at != line.npos && line[at] == '@') at = line.find_first_not_of(" \t", line.find(' ', at));
  if (at == line.npos || !std::isupper(static_cast<unsigned char>(line[at]))) return "";
  return line.substr(at, line.find_first_of(" \t;", at) - at);
}

// The line of the kernel's own file among a line and those that it was inlined into, innermost
// first; else the innermost. Some rungs share a kernel in rung_*.hpp. The executor's counts go by
// the same rule (tools/embed_sites.py).
SourceLine own_line(const std::vector<SourceLine>& frames) {
  const auto is_source = [](const SourceLine& f) { return f.file.ends_with(".cu"); };
  const auto is_shared = [](const SourceLine& f) { return f.file.starts_with("rung_"); };
  auto own = std::ranges::find_if(frames, is_source);
  if (own == frames.end()) own = std::ranges::find_if(frames, is_shared);
  if (own == frames.end()) own = frames.begin();
  return own == frames.end() ? SourceLine{} : *own;
}

// Of  //## File "/home/ada/a.cu", line 12  and what may stand behind it: "inlined at", and a line
// that the listing names next.
SourceLine frame_of(const std::string& line, std::size_t begin) {
  const std::size_t end = line.find('"', begin), number = line.find("line ", end);
  std::string file = line.substr(begin, end - begin);
  file.erase(0, file.find_last_of('/') + 1);
  if (number == line.npos) return {std::move(file), 0};
  return {std::move(file),
          static_cast<unsigned>(std::strtoul(line.c_str() + number + 5, nullptr, 10))};
}

// Visits each instruction with its function and, behind -lineinfo, its line of the source.
template <class Visit>
void for_each_instruction(std::string_view text, Visit visit) {
  constexpr std::string_view kSection = ".section\t.text.", kFile = "//## File \"";
  std::string function;
  std::vector<SourceLine> frames;
  bool is_complete = false;  // an instruction followed the frames
  for_each_line(text, [&](const std::string& line) {
    if (const std::size_t at = line.find(kSection); at != line.npos) {
      const std::size_t begin = at + kSection.size();
      function = line.substr(begin, line.find(',', begin) - begin);
      frames.clear();
    } else if (line.find(".section\t") != line.npos) {
      function.clear();
    } else if (const std::size_t file = line.find(kFile); file != line.npos) {
      if (is_complete) frames.clear();
      is_complete = false;
      frames.push_back(frame_of(line, file + kFile.size()));
    } else if (const std::string word = instruction_of(line); !word.empty() && !function.empty()) {
      is_complete = true;
      if (const std::string opcode = opcode_of(word); opcode != "NOP") {
        visit(function, own_line(frames), opcode);
      }
    }
  });
}

}  // namespace

std::size_t count_of(const Instructions& instructions) {
  return std::accumulate(instructions.begin(), instructions.end(), std::size_t{0},
                         [](std::size_t sum, const auto& item) { return sum + item.second; });
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !name) return symbol;
  // Kernels live in anonymous namespaces, whose name says nothing.
  static const std::regex nothing(R"(\(anonymous namespace\)::|_GLOBAL__N__\w+::)");
  std::string text = std::regex_replace(name.get(), nothing, "");
  int depth = 0;  // of template arguments
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '<') - (text[i] == '>');
    if (depth == 0 && text[i] == '(') text.resize(i);
  }
  return text.starts_with("void ") ? text.substr(5) : text;
}

std::vector<KernelCode> parse_resources(std::string_view ptxas) {
  static const std::regex entry(R"(Compiling entry function '([^']+)')");
  static const std::regex properties(R"(Function properties for (\S+))");
  std::vector<KernelCode> kernels;
  bool is_entry = false;  // other functions that were not inlined have properties, too
  for_each_line(ptxas, [&](const std::string& line) {
    std::smatch match;
    if (std::regex_search(line, match, entry)) {
      kernels.emplace_back();
      kernels.back().symbol = match[1];
      kernels.back().name = demangled(match[1]);
    } else if (std::regex_search(line, match, properties)) {
      is_entry = !kernels.empty() && match[1] == kernels.back().symbol;
    } else if (is_entry && line.find("bytes stack frame") != line.npos) {
      kernels.back().stack_bytes = number_before(line, " bytes stack frame");
      kernels.back().spill_store_bytes = number_before(line, " bytes spill stores");
      kernels.back().spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (!kernels.empty() && line.find("Used ") != line.npos) {
      kernels.back().registers = static_cast<unsigned>(number_before(line, " registers"));
      kernels.back().barriers = static_cast<unsigned>(number_before(line, " barriers"));
      kernels.back().shared_bytes = number_before(line, " bytes smem");
    }
  });
  return kernels;
}

std::vector<KernelCode> parse_usage(std::string_view text) {
  static const std::regex function(R"(^\s*Function (\S+):\s*$)");
  static const std::regex usage(R"(REG:(\d+) STACK:(\d+) SHARED:(\d+))");
  std::vector<KernelCode> kernels;
  for_each_line(text, [&](const std::string& line) {
    std::smatch match;
    if (std::regex_search(line, match, function)) {
      kernels.emplace_back();
      kernels.back().symbol = match[1];
      kernels.back().name = demangled(match[1]);
    } else if (!kernels.empty() && std::regex_search(line, match, usage)) {
      kernels.back().registers =
          static_cast<unsigned>(std::strtoul(match[1].str().c_str(), nullptr, 10));
      kernels.back().stack_bytes = std::strtoull(match[2].str().c_str(), nullptr, 10);
      kernels.back().shared_bytes = std::strtoull(match[3].str().c_str(), nullptr, 10);
    }
  });
  return kernels;
}

void parse_launch_bounds(std::string_view ptx, std::vector<KernelCode>& kernels) {
  static const std::regex entry(R"(\.entry\s+([\w$]+))");
  static const std::regex bound(R"(^\.maxntid\s+(\d+)(?:,\s*(\d+))?(?:,\s*(\d+))?)");
  auto kernel = kernels.end();
  for_each_line(ptx, [&](const std::string& line) {
    std::smatch match;
    if (std::regex_search(line, match, entry)) {
      kernel = std::ranges::find(kernels, match[1].str(), &KernelCode::symbol);
    } else if (kernel != kernels.end() && std::regex_search(line, match, bound)) {
      kernel->threads = 1;
      for (std::size_t i = 1; i < match.size(); ++i) {
        if (match[i].matched) {
          kernel->threads *=
              static_cast<unsigned>(std::strtoul(match[i].str().c_str(), nullptr, 10));
        }
      }
    }
  });
}

std::map<std::string, Instructions> parse_disassembly(std::string_view text) {
  std::map<std::string, Instructions> functions;
  for_each_instruction(text, [&](const std::string& function, const SourceLine&,
                                 const std::string& opcode) { ++functions[function][opcode]; });
  return functions;
}

LineInstructions parse_lines(std::string_view text, const std::vector<std::string>& symbols) {
  LineInstructions lines;
  for_each_instruction(text, [&](const std::string& function, const SourceLine& line,
                                 const std::string& opcode) {
    const bool counts = symbols.empty() || std::ranges::find(symbols, function) != symbols.end();
    if (counts && line.number > 0) ++lines[line][opcode];
  });
  return lines;
}

std::vector<FatEntry> parse_fat_binary(std::string_view text) {
  std::vector<FatEntry> entries;
  for_each_line(text, [&](const std::string& line) {
    if (line.starts_with("Fatbin elf code")) entries.push_back({"machine code", "", false});
    if (line.starts_with("Fatbin ptx code")) entries.push_back({"PTX", "", false});
    if (entries.empty()) return;
    if (line.starts_with("arch = ")) entries.back().arch = line.substr(7);
    if (line.starts_with("compressed")) entries.back().compressed = true;
  });
  return entries;
}

}  // namespace warpladder::lab
