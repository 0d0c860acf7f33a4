#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/scratch_folder.hpp"
#include "base/with_commas.hpp"
#include "lab/compile_flow.hpp"
#include "lab/occupancy.hpp"
#include "nvcc_source.hpp"
#include "verb.hpp"

namespace warpladder::app {
namespace {

namespace fs = std::filesystem;
using lab::ArchitectureFlow;
using lab::Compiled;
using lab::CompileFlow;
using lab::KernelCode;

constexpr std::size_t kMostChanges = 6;

struct BuildFlags {
  std::string source, root = ".", keep;
  std::vector<std::string> architectures, flags;
  std::optional<std::string> separate;
  bool fast_math = false, lines = false;
  JsonFlag json;
};

// The folder of --keep, made if it is not there.
std::string made_folder(const std::string& keep) {
  std::error_code error;
  fs::create_directories(keep, error);
  if (error) {
    throw_bad_input(fmt::format("--keep {} cannot be made: {}", in_quotes(keep), error.message()));
  }
  return keep;
}

std::string bytes_text(std::size_t bytes) {
  return with_commas(static_cast<std::uint64_t>(bytes)) + " B";
}

std::string time_text(double seconds) { return fmt::format("{:.2f} s", seconds); }

std::string instructions_text(const lab::Instructions& instructions) {
  return instructions.empty() ? "" : with_commas(std::uint64_t{lab::count_of(instructions)});
}

std::string occupancy_text(const KernelCode& kernel, const std::string& architecture) {
  const auto sm = lab::sm_of(architecture);
  if (!sm || kernel.threads == 0) return "";
  const lab::Occupancy o =
      lab::occupancy({kernel.threads, kernel.shared_bytes, kernel.registers}, *sm);
  return fmt::format("{:.0f} %, {}", 100 * o.share(), lab::name(o.limiter));
}

void print_stages(const CompileFlow& flow) {
  TextTable table({{"for"}, {"stage"}, {"by"}, {"size", Align::right}, {"time", Align::right}});
  for (const ArchitectureFlow& each : flow.architectures) {
    for (const lab::Stage& stage : each.stages) {
      table.add_row({"sm_" + each.architecture, stage.name, stage.tool, bytes_text(stage.bytes),
                     time_text(stage.seconds)});
    }
    table.add_rule();
  }
  table.add_row({"all", flow.fat_binary.name, flow.fat_binary.tool,
                 bytes_text(flow.fat_binary.bytes), time_text(flow.fat_binary.seconds)});
  print(table);
  if (!flow.fat_entries.empty()) {
    std::vector<std::string> entries;
    for (const lab::FatEntry& entry : flow.fat_entries) {
      entries.push_back(fmt::format("{} for {}{}", entry.kind, entry.arch,
                                    entry.compressed ? ", compressed" : ""));
    }
    print_line(fmt::format("\nThe fat binary holds {}.", fmt::join(entries, "; ")));
  }
  print_line("");
}

void print_kernels(const CompileFlow& flow) {
  const auto is_empty = [](const ArchitectureFlow& each) { return each.kernels.empty(); };
  if (std::ranges::all_of(flow.architectures, is_empty)) {
    return print_line("The source holds no kernel.\n");
  }
  TextTable table({{"for"},
                   {"kernel"},
                   {"registers", Align::right},
                   {"stack", Align::right},
                   {"spills", Align::right},
                   {"shared", Align::right},
                   {"threads", Align::right},
                   {"occupancy"},
                   {"instructions", Align::right}});
  for (const ArchitectureFlow& each : flow.architectures) {
    for (const KernelCode& kernel : each.kernels) {
      const std::size_t spilled = kernel.spill_store_bytes + kernel.spill_load_bytes;
      table.add_row({"sm_" + each.architecture,
                     kernel.name,
                     std::to_string(kernel.registers),
                     bytes_text(kernel.stack_bytes),
                     {bytes_text(spilled), spilled ? Emphasis::bad : Emphasis::none},
                     bytes_text(kernel.shared_bytes),
                     kernel.threads ? std::to_string(kernel.threads) : "",
                     occupancy_text(kernel, each.architecture),
                     instructions_text(kernel.instructions)});
    }
  }
  print(table);
  print_line(
      "\nSpills: bytes that a thread stores to and loads from memory for want of registers. "
      "Shared: "
      "static. Threads: of a block, from __launch_bounds__; occupancy is for them and static "
      "shared "
      "memory.");
  print_line("");
}

std::string changes_text(const lab::Instructions& before, const lab::Instructions& after) {
  const auto changes = lab::changes_between(before, after);
  std::vector<std::string> words;
  for (const lab::InstructionChange& change : changes) {
    if (words.size() == kMostChanges) {
      words.push_back("…");
      break;
    }
    words.push_back(fmt::format("{:+} {}", change.difference, change.opcode));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// A line per kernel and way; those that change nothing are one line.
void print_maths(const ArchitectureFlow& flow) {
  if (flow.maths.empty()) return;
  print_line(fmt::format("Floating-point flags, sm_{}:\n", flow.architecture));
  TextTable table({{"flags"},
                   {"kernel"},
                   {"registers", Align::right},
                   {"instructions", Align::right},
                   {"beside the default"}});
  const Compiled& base = flow.maths.front();
  for (const Compiled& way : flow.maths) {
    for (const KernelCode& kernel : way.kernels) {
      const auto same = std::ranges::find(base.kernels, kernel.symbol, &KernelCode::symbol);
      table.add_row({way.flags.empty() ? way.name : way.flags, kernel.name,
                     std::to_string(kernel.registers), instructions_text(kernel.instructions),
                     same == base.kernels.end()
                         ? ""
                         : changes_text(same->instructions, kernel.instructions)});
    }
  }
  print(table);
  print_line("");
}

std::size_t calls_in(const std::vector<KernelCode>& kernels) {
  std::size_t calls = 0;
  for (const KernelCode& kernel : kernels) {
    const auto found = kernel.instructions.find("CALL");
    if (found != kernel.instructions.end()) calls += found->second;
  }
  return calls;
}

void print_separate(const ArchitectureFlow& flow) {
  if (flow.separate.empty()) return;
  print_line(fmt::format("Whole program and separate compilation, sm_{}:\n", flow.architecture));
  TextTable table({{"compiled as"},
                   {"flags"},
                   {"size", Align::right},
                   {"time", Align::right},
                   {"kernel or function"},
                   {"registers", Align::right},
                   {"stack", Align::right},
                   {"instructions", Align::right},
                   {"calls", Align::right}});
  for (const Compiled& way : flow.separate) {
    if (!way.why_not.empty()) {
      table.add_row({way.name,
                     way.flags,
                     "",
                     "",
                     {"left out: " + way.why_not, Emphasis::dim},
                     "",
                     "",
                     "",
                     ""});
    }
    for (const KernelCode& kernel : way.kernels) {
      table.add_row({way.name, way.flags, bytes_text(way.bytes), time_text(way.seconds),
                     kernel.name,
                     // cuobjdump may say nothing of functions, which use their kernels' registers.
                     kernel.registers ? std::to_string(kernel.registers) : "",
                     bytes_text(kernel.stack_bytes), instructions_text(kernel.instructions),
                     kernel.instructions.empty() ? "" : std::to_string(calls_in({kernel}))});
    }
  }
  print(table);
  print_line("");
}

std::vector<std::string> lines_of(const std::string& source) {
  std::ifstream file(source);
  std::vector<std::string> lines;
  for (std::string text; std::getline(file, text);) lines.push_back(text);
  return lines;
}

// The source's lines, with their instructions.
void print_lines(const ArchitectureFlow& flow, const std::string& source) {
  const std::string name = fs::path(source).filename().string();
  print_line(fmt::format("What each line of {} became, sm_{}, all kernels together:\n", name,
                         flow.architecture));
  TextTable table({{"line", Align::right}, {"source"}, {"instructions"}});
  unsigned number = 0;
  for (const std::string& text : lines_of(source)) {
    const auto line = flow.lines.find({name, ++number});
    if (line == flow.lines.end()) continue;
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    table.add_row({std::to_string(number), text.substr(begin), counts_text(line->second)});
  }
  print(table);
  print_line("");
}

nlohmann::json as_json(const std::vector<KernelCode>& kernels, const std::string& architecture) {
  nlohmann::json list = nlohmann::json::array();
  for (const KernelCode& kernel : kernels) {
    nlohmann::json object{{"name", kernel.name},
                          {"symbol", kernel.symbol},
                          {"registers", kernel.registers},
                          {"stack_bytes", kernel.stack_bytes},
                          {"spill_store_bytes", kernel.spill_store_bytes},
                          {"spill_load_bytes", kernel.spill_load_bytes},
                          {"shared_bytes", kernel.shared_bytes},
                          {"threads", kernel.threads},
                          {"instructions", kernel.instructions}};
    const auto sm = lab::sm_of(architecture);
    if (sm && kernel.threads > 0) {
      const lab::Occupancy o =
          lab::occupancy({kernel.threads, kernel.shared_bytes, kernel.registers}, *sm);
      object["occupancy"] = {
          {"blocks", o.blocks}, {"share", o.share()}, {"limiter", lab::name(o.limiter)}};
    }
    list.push_back(std::move(object));
  }
  return list;
}

nlohmann::json as_json(const lab::Stage& stage) {
  return {{"name", stage.name},
          {"by", stage.tool},
          {"file", fs::path(stage.file).filename().string()},
          {"bytes", stage.bytes},
          {"seconds", stage.seconds}};
}

nlohmann::json as_json(const std::vector<Compiled>& ways, const std::string& architecture) {
  nlohmann::json list = nlohmann::json::array();
  for (const Compiled& way : ways) {
    list.push_back({{"name", way.name},
                    {"flags", way.flags},
                    {"left_out", way.why_not},
                    {"bytes", way.bytes},
                    {"seconds", way.seconds},
                    {"kernels", as_json(way.kernels, architecture)}});
  }
  return list;
}

nlohmann::json as_json(const CompileFlow& flow, const std::string& source) {
  using nlohmann::json;
  const std::vector<std::string> text = lines_of(source);
  const std::string name = fs::path(source).filename().string();
  json object{{"verb", "build"},
              {"source", name},
              {"nvcc", flow.toolkit.version},
              {"missing", flow.toolkit.missing},
              {"fat_binary", as_json(flow.fat_binary)},
              {"architectures", json::array()}};
  for (const lab::FatEntry& entry : flow.fat_entries) {
    object["fat_binary"]["holds"].push_back(
        {{"kind", entry.kind}, {"arch", entry.arch}, {"compressed", entry.compressed}});
  }
  for (const ArchitectureFlow& each : flow.architectures) {
    json built{{"architecture", each.architecture},
               {"stages", json::array()},
               {"kernels", as_json(each.kernels, each.architecture)},
               {"maths", as_json(each.maths, each.architecture)},
               {"separate", as_json(each.separate, each.architecture)},
               {"lines", json::array()}};
    for (const lab::Stage& stage : each.stages) built["stages"].push_back(as_json(stage));
    for (const auto& [line, instructions] : each.lines) {
      const bool has_text = line.file == name && line.number <= text.size();
      built["lines"].push_back({{"file", line.file},
                                {"line", line.number},
                                {"text", has_text ? text[line.number - 1] : ""},
                                {"instructions", instructions}});
    }
    object["architectures"].push_back(std::move(built));
  }
  return object;
}

void build(const BuildFlags& flags, Context& context) {
  lab::CompileRequest request;
  request.source = source_to_compile(flags.source, flags.root, "--source");
  request.architectures = flags.architectures.empty()
                              ? std::vector{default_architecture(request.source)}
                              : flags.architectures;
  for (const std::string& architecture : request.architectures) {
    require_architecture("--arch", architecture);
  }
  request.second = flags.separate;
  std::error_code absent;
  if (flags.separate && !fs::is_regular_file(*flags.separate, absent)) {
    throw_bad_input(fmt::format("--separate {} is no file", in_quotes(*flags.separate)));
  }
  request.fast_math = flags.fast_math;
  request.flags = flags_of_nvcc(flags.source, flags.root);
  request.flags.insert(request.flags.end(), flags.flags.begin(), flags.flags.end());
  std::optional<ScratchFolder> scratch;
  request.folder = flags.keep.empty() ? scratch.emplace().path().string() : made_folder(flags.keep);

  const CompileFlow flow = lab::compile_flow(request);
  print_line(fmt::format("{} with nvcc {}\n", in_quotes(request.source), flow.toolkit.version));
  print_stages(flow);
  print_kernels(flow);
  for (const ArchitectureFlow& each : flow.architectures) {
    print_maths(each);
    print_separate(each);
    if (flags.lines && !each.lines.empty()) print_lines(each, request.source);
  }
  for (const std::string& sentence : flow.toolkit.missing) print_line("- " + sentence);
  if (!flags.keep.empty()) print_line("Files: " + in_quotes(flags.keep));
  if (flags.json.asked()) flags.json.write(context, as_json(flow, request.source));
}

}  // namespace

void add_build(CLI::App& app, Context& context) {
  auto* verb = app.add_subcommand("build", "Show what nvcc makes of a source, stage by stage");
  const auto flags = std::make_shared<BuildFlags>();
  verb->add_option("FILE.cu|OP/RUNG", flags->source, "A source file, or a rung's")
      ->type_name("")
      ->required();
  verb->add_option("--arch", flags->architectures,
                   "GPUs to compile for, as in 80,90a (default: 90, or 90a for Hopper's rungs)")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--source", flags->root,
                   "The folder of warpladder's sources, for OP/RUNG (default: the current one)")
      ->type_name("DIR");
  verb->add_flag("--fast-math", flags->fast_math,
                 "Beside it, the instructions of --use_fast_math and of each of its parts");
  verb->add_option("--separate", flags->separate,
                   "A second source, whose functions the first one calls: one program beside "
                   "-rdc=true, with and without -dlto")
      ->type_name("FILE.cu");
  verb->add_flag("--lines", flags->lines, "The instructions that each line became");
  verb->add_option("--flag", flags->flags, "One more flag for nvcc; may be repeated")
      ->type_name("FLAG")
      ->allow_extra_args(false);
  verb->add_option("--keep", flags->keep, "Keep the files of all stages here")->type_name("DIR");
  flags->json.add_to(*verb);
  verb->footer(
      "Needs nvcc and no GPU. nvdisasm shows instructions, cuobjdump what a fat binary holds.\n"
      "Environment: WARPLADDER_NVVM=DIR has lib64/libnvvm.so, where the toolkit lacks it for "
      "-dlto.");
  verb->callback([flags, &context] { build(*flags, context); });
}

}  // namespace warpladder::app
