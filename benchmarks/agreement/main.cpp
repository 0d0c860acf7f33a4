// The executor's counts beside a GPU's counters: both halves of tools/agreement.py, which starts
// this program. Usage:
//   agreement count PROBLEMS.txt OUT.jsonl GPU [COMPILED.tsv]   counts every problem in the
//                                                  executor, for this GPU, and as this machine code
//                                                  has the accesses
//   agreement rungs PROBLEMS.txt OUT.jsonl         launches them on the GPU, for Nsight Compute
//   agreement patterns OUT.jsonl                   launches the requests of patterns.hpp there
//
// OUT.jsonl has a line for each problem, or pattern, in the order in which they run.

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/parse.hpp"
#include "executor/executor.hpp"
#include "gpu_side.hpp"
#include "lab/gpus.hpp"
#include "lab/origin.hpp"
#include "lab/selection.hpp"
#include "patterns.hpp"

namespace warpladder::agreement {
namespace {

using Words = std::span<const char* const>;

// A rung on a problem. Without a shape, `variant` is a matrix.
struct Item {
  lab::Selected selected;
  std::string problem;
  std::vector<std::int64_t> shape;
  std::string variant;
};

bool is_shape(const std::string& word) {
  return word.find_first_not_of("0123456789x") == word.npos;
}

// The first of the operator's variants goes without saying, as "batch=8" alone.
std::string variant_of(const ops::Operator& op, const std::string& words) {
  const std::string first = op.variants().front();
  if (words.empty()) return first;
  return words.substr(0, words.find(' ')).find('=') == words.npos ? words : first + " " + words;
}

std::vector<Item> read_problems(const char* file) {
  std::ifstream in(file);
  if (!in) throw_bad_input(fmt::format("{}: no such file, or not readable", file));
  std::vector<Item> items;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string rungs, first, rest;
    if (!(words >> rungs) || rungs[0] == '#') continue;
    if (!(words >> first)) throw_bad_input(fmt::format("{}: {} has no problem", file, rungs));
    std::getline(words >> std::ws, rest);
    for (const lab::Selected& selected : lab::select({rungs})) {
      const ladder::AnyRung& rung = *selected.rung;
      if (rung.on_host || rung.is_dispatch()) continue;
      Item item{selected, rest.empty() ? first : first + " " + rest, {}, first};
      if (is_shape(first)) {
        item.shape = parse_shape(first, selected.op->default_shape().size(), file);
        item.variant = variant_of(*selected.op, rest);
      }
      items.push_back(std::move(item));
    }
  }
  return items;
}

// Ready to be launched. Throws Error(bad_input) if the rung does not take the problem.
std::unique_ptr<ops::Trial> prepared(const Item& item, runtime::Target target) {
  auto trial = item.selected.op->case_of_shape(item.shape, item.variant).prepare(target);
  const ladder::AnyRung& rung = *item.selected.rung;
  if (const std::string why = ladder::why_not(rung, trial->call()); !why.empty()) {
    throw_bad_input(fmt::format("{} on {}: {}", rung.full_name(), item.problem, why));
  }
  trial->provide_workspace(rung.workspace_for(trial->call(), device::machine(target)));
  trial->reset();
  return trial;
}

void launch(const Item& item, const ops::Trial& trial, runtime::Flavour flavour,
            device::Stream& stream) {
  const ladder::AnyRung& rung = *item.selected.rung;
  if (const auto prepare = rung.preparation(flavour)) prepare(trial.call(), stream);
  rung.launcher(flavour)(trial.call(), stream);
  stream.synchronize();
}

const char* name(executor::MemorySpace space) {
  return space == executor::MemorySpace::global ? "global" : "shared";
}
const char* name(executor::AccessKind kind) {
  return kind == executor::AccessKind::load    ? "load"
         : kind == executor::AccessKind::store ? "store"
                                               : "atomic";
}

nlohmann::json as_json(const executor::KernelCounts& k) {
  nlohmann::json launch{{"kernel", k.kernel},
                        {"grid", {k.grid.x, k.grid.y, k.grid.z}},
                        {"block", {k.block.x, k.block.y, k.block.z}},
                        {"accesses", nlohmann::json::array()},
                        {"events", nlohmann::json::array()}};
  for (const executor::AccessCounts& a : k.accesses) {
    launch["accesses"].push_back({{"file", a.file},
                                  {"line", a.line},
                                  {"space", name(a.space)},
                                  {"kind", name(a.kind)},
                                  {"bytes", a.bytes},
                                  {"requests", a.requests},
                                  {"lanes", a.lanes},
                                  {"sectors", a.sectors},
                                  {"wavefronts", a.wavefronts},
                                  {"conflicts", a.bank_conflicts()}});
  }
  for (const executor::EventCounts& e : k.events) {
    launch["events"].push_back({{"file", e.file},
                                {"line", e.line},
                                {"fmas", e.fmas},
                                {"barriers", e.barriers},
                                {"shuffles", e.shuffles},
                                {"bulk_bytes", e.bulk_bytes},
                                {"tensor_fmas", e.tensor_fmas}});
  }
  return launch;
}

nlohmann::json as_json(const Item& item) {
  return {{"rung", item.selected.rung->full_name()}, {"problem", item.problem}};
}

void count(const char* problems, const char* out, const char* gpu, const char* compiled) {
  const device::StandIn stand_in(lab::find_gpu(gpu).machine);
  const executor::CompiledCode code =
      compiled ? executor::read_compiled_code(compiled) : executor::CompiledCode();
  const executor::AsCompiled as_compiled(code);
  std::string text;
  for (const Item& item : read_problems(problems)) {
    const auto trial = prepared(item, runtime::Target::cpu);
    std::vector<executor::KernelCounts> counts;
    device::Stream stream(runtime::Target::cpu);
    stream.record_counts = &counts;
    launch(item, *trial, runtime::Flavour::counted, stream);
    nlohmann::json line = as_json(item);
    for (const executor::KernelCounts& k : counts) line["launches"].push_back(as_json(k));
    text += line.dump() + "\n";
  }
  write_file(out, text);
}

void require_gpu() {
  const device::Availability there = device::availability(runtime::Target::gpu);
  if (!there.available) throw_resource("no kernel can run on a GPU: " + there.why_not);
}

// A mark before each rung tells whose launches follow.
void launch_rungs(const char* problems, const char* out, Words argv) {
  require_gpu();
  std::string text = lab::origin(argv).dump() + "\n";
  unsigned number = 0;
  device::Stream stream(runtime::Target::gpu);
  for (const Item& item : read_problems(problems)) {
    const auto trial = prepared(item, runtime::Target::gpu);
    begin_profile();
    launch_mark(number++);
    launch(item, *trial, runtime::Flavour::gpu, stream);
    end_profile();
    trial->expect(item.selected.rung->arithmetic_for(trial->call()));
    nlohmann::json line = as_json(item);
    line["failure"] = trial->judge().failure;
    text += line.dump() + "\n";
  }
  write_file(out, text);
}

void launch_bank_patterns(const char* out) {
  require_gpu();
  const std::vector<Pattern> all = patterns();
  launch_patterns(all);
  std::string text;
  for (const Pattern& p : all) {
    text += nlohmann::json{{"bytes", p.bytes}, {"lanes", p.lanes}, {"at", p.at}}.dump() + "\n";
  }
  write_file(out, text);
}

void run(Words argv) {
  const std::string verb = argv.size() > 1 ? argv[1] : "";
  if (verb == "count" && (argv.size() == 5 || argv.size() == 6)) {
    return count(argv[2], argv[3], argv[4], argv.size() == 6 ? argv[5] : nullptr);
  }
  if (verb == "rungs" && argv.size() == 4) return launch_rungs(argv[2], argv[3], argv);
  if (verb == "patterns" && argv.size() == 3) return launch_bank_patterns(argv[2]);
  throw_bad_input(
      "usage: agreement count PROBLEMS.txt OUT.jsonl GPU [COMPILED.tsv] | rungs PROBLEMS.txt "
      "OUT.jsonl | "
      "patterns OUT.jsonl");
}

}  // namespace
}  // namespace warpladder::agreement

int main(int argc, char** argv) {
  try {
    warpladder::agreement::run({argv, static_cast<std::size_t>(argc)});
    return 0;
  } catch (const warpladder::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
