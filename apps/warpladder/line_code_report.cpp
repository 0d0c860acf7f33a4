#include "line_code_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/scratch_folder.hpp"
#include "explain_report.hpp"
#include "lab/explain_words.hpp"
#include "lab/kernel_name.hpp"
#include "nvcc_source.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

using executor::AccessCounts;
using executor::AccessKind;
using executor::MemorySpace;
using lab::LineCounts;

// The instructions of this space and kind, and the bytes that a thread moves with each.
struct Width {
  MemorySpace space;
  AccessKind kind;
  const char* opcode;
  int bytes;
};
constexpr Width kWide[] = {
    {MemorySpace::global, AccessKind::load, "LDG.E.64", 8},
    {MemorySpace::global, AccessKind::load, "LDG.E.128", 16},
    {MemorySpace::global, AccessKind::store, "STG.E.64", 8},
    {MemorySpace::global, AccessKind::store, "STG.E.128", 16},
    {MemorySpace::shared, AccessKind::load, "LDS.64", 8},
    {MemorySpace::shared, AccessKind::load, "LDS.128", 16},
    {MemorySpace::shared, AccessKind::store, "STS.64", 8},
    {MemorySpace::shared, AccessKind::store, "STS.128", 16},
};

const lab::Instructions* instructions_of(const LineCounts& line, const lab::LineCode& code) {
  const auto found = code.lines.find(
      {std::filesystem::path(line.file).filename().string(), static_cast<unsigned>(line.line)});
  return found == code.lines.end() ? nullptr : &found->second;
}

// "global loads of 4 B, FMAs".
std::string asked_text(const LineCounts& line) {
  std::vector<std::string> words;
  for (const AccessCounts& a : line.accesses) words.push_back(accesses_text(a));
  if (line.fmas) words.emplace_back("FMAs");
  if (line.barriers) words.emplace_back("barriers");
  if (line.shuffles) words.emplace_back("shuffles");
  if (line.bulk_bytes) words.emplace_back("copies by the copy engine");
  if (line.tensor_fmas) words.emplace_back("tensor core FMAs");
  return fmt::format("{}", fmt::join(words, ", "));
}

// One for each kind of access that instructions make wider than the source does.
std::vector<std::string> merged_sentences(const LineCounts& line,
                                          const lab::Instructions& instructions) {
  std::vector<std::string> sentences;
  for (const Width& wide : kWide) {
    if (!instructions.contains(wide.opcode)) continue;
    const AccessCounts* widest = nullptr;
    for (const AccessCounts& a : line.accesses) {
      if (a.space != wide.space || a.kind != wide.kind) continue;
      if (!widest || a.bytes > widest->bytes) widest = &a;
    }
    if (!widest || static_cast<int>(widest->bytes) >= wide.bytes) continue;
    sentences.push_back(fmt::format("Line {}: ptxas merged {} into {}.", lab::place_of(line),
                                    accesses_text(*widest), wide.opcode));
  }
  return sentences;
}

}  // namespace

lab::LineCode line_code_of(const lab::Explanation& e, const std::string& architecture) {
  const char* const folder = std::getenv("WARPLADDER_SOURCE_DIR");
  const std::string root = folder && *folder ? folder : ".";
  const ScratchFolder scratch;
  lab::CompileRequest request;
  request.source = source_to_compile(e.full_name(), root, "WARPLADDER_SOURCE_DIR");
  request.architectures = {architecture};
  request.flags = flags_of_nvcc(e.full_name(), root);
  request.folder = scratch.path().string();
  std::vector<std::string> kernels;
  for (const executor::KernelCounts& k : e.launches) kernels.push_back(k.kernel);
  return lab::line_code(request, kernels);
}

void print_line_code(const lab::Explanation& e, const lab::LineCode& code) {
  std::vector<std::string> names;
  for (const std::string& kernel : code.kernels) names.push_back(lab::short_kernel_name(kernel));
  print_line(fmt::format("\nMachine code for sm_{} by nvcc {}, {}:", code.architecture,
                         code.version,
                         names.empty() ? "all kernels of the source together"
                                       : fmt::format("{}", fmt::join(names, ", "))));
  TextTable table({{"line"}, {"the source asks for"}, {"it became"}});
  std::vector<std::string> sentences;
  for (const LineCounts& line : e.lines) {
    const lab::Instructions* const instructions = instructions_of(line, code);
    table.add_row({lab::place_of(line), asked_text(line),
                   instructions ? counts_text(*instructions) : "nothing on this line"});
    if (!instructions) continue;
    for (std::string& s : merged_sentences(line, *instructions)) sentences.push_back(std::move(s));
  }
  print(table);
  for (const std::string& sentence : sentences) print_line(sentence);
}

nlohmann::json line_code_json(const lab::LineCode& code) {
  nlohmann::json report{{"architecture", code.architecture},
                        {"kernels", code.kernels},
                        {"lines", nlohmann::json::array()}};
  for (const auto& [line, instructions] : code.lines) {
    report["lines"].push_back(
        {{"file", line.file}, {"line", line.number}, {"instructions", instructions}});
  }
  return report;
}

}  // namespace warpladder::app
