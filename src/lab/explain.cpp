#include "lab/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>
#include <tuple>

#include "base/error.hpp"
#include "executor/executor.hpp"

namespace warpladder::lab {
namespace {

using executor::AccessCounts;
using executor::AccessKind;
using executor::MemorySpace;

constexpr std::uint64_t kSectorsPerCycle = 4;
constexpr double kBytesPerSector = 32;
constexpr double kCountedFmaSeconds = 20e-9;  // on one core, the slowest rung
constexpr double kWorthBlaming = 0.01;        // of all cycles

std::uint64_t sector_cycles(std::uint64_t requests, std::uint64_t sectors) {
  return std::max(requests, (sectors + kSectorsPerCycle - 1) / kSectorsPerCycle);
}

std::uint64_t avoidable(const AccessCounts& a) { return l1_cycles(a) - ideal_l1_cycles(a); }

class Sources {
 public:
  // Without the blanks around it.
  std::string line(const std::string& file, int number) {
    const auto [at, is_new] = files_.try_emplace(file);
    if (is_new) at->second = source_lines(file);
    const auto index = static_cast<std::size_t>(number) - 1;
    if (index >= at->second.size()) return "";
    const std::string& text = at->second[index];
    constexpr const char* kBlanks = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

std::string sentence_on_waste(const AccessCounts& a) {
  const auto requests = static_cast<double>(a.requests);
  const char* const verb = a.kind == AccessKind::load    ? "load"
                           : a.kind == AccessKind::store ? "store"
                                                         : "atomic";
  if (a.space == MemorySpace::shared) {
    return fmt::format("each {} takes {:.3g} wavefronts where {:.3g} would do: bank conflicts",
                       verb, static_cast<double>(a.wavefronts) / requests,
                       static_cast<double>(a.ideal_wavefronts) / requests);
  }
  return fmt::format(
      "each {} touches {:.3g} sectors where {:.3g} would do: {}", verb,
      static_cast<double>(a.sectors) / requests, static_cast<double>(a.ideal_sectors) / requests,
      a.sectors >= 2 * a.ideal_sectors ? "lanes stride through memory"
                                       : "the addresses do not begin where a sector does");
}

// What a line fetches from one of the memories.
struct Fetched {
  std::uint64_t requests = 0, cycles = 0, words = 0;
};

// For a line without waste: how much it fetches for its own FMAs or, if it has none, for all FMAs
// of the rung.
std::string sentence_on_reuse(const LineCounts& line, std::uint64_t all_fmas, const Gpu& gpu) {
  // L1 cycles in which the FP32 units of an SM take one FMA of each lane of a warp.
  const double balance = 32 / gpu.sm_fmas_per_cycle;
  Fetched global, shared;
  bool is_least = true;
  for (const AccessCounts& a : line.accesses) {
    Fetched& from = a.space == MemorySpace::global ? global : shared;
    from.requests += a.requests;
    from.cycles += l1_cycles(a);
    from.words += a.lanes * static_cast<std::uint64_t>(a.bytes) / 4;
    is_least = is_least && a.sectors == a.ideal_sectors;
  }
  const std::uint64_t fmas = line.fmas ? line.fmas : all_fmas;
  if (fmas == 0) {
    return is_least ? "nothing to save, it moves no more than the bytes it asks for"
                    : "nothing to save, fewer sectors would take as many cycles";
  }
  const bool is_global = global.cycles >= shared.cycles;
  const Fetched& fetched = is_global ? global : shared;
  const double cycles = static_cast<double>(fetched.cycles) / (static_cast<double>(fmas) / 32);
  const char* const unit = !is_global                           ? "wavefront"
                           : fetched.cycles == fetched.requests ? "request"
                                                                : "L1 cycle";
  const std::string counts = fmt::format("{:.3g} {}{} for 32 FMAs{}", cycles, unit,
                                         cycles == 1 ? "" : "s", line.fmas ? "" : " of the kernel");
  if (cycles <= balance) return counts + ": the FP32 units bind before this line does";
  const char* const memory = is_global ? "global" : "shared";
  const std::string where =
      fetched.words >= 2 * fmas ? fmt::format("every operand comes from {} memory", memory)
      : fetched.words >= fmas   ? fmt::format("one operand of each comes from {} memory", memory)
                                : "operands are used again, but too seldom";
  return fmt::format("{}: {} ({:.3g} would keep the FP32 units busy)", counts, where, balance);
}

}  // namespace

std::uint64_t l1_cycles(const AccessCounts& a) {
  return a.space == MemorySpace::global ? sector_cycles(a.requests, a.sectors) : a.wavefronts;
}

std::uint64_t ideal_l1_cycles(const AccessCounts& a) {
  return a.space == MemorySpace::global ? sector_cycles(a.requests, a.ideal_sectors)
                                        : a.ideal_wavefronts;
}

std::uint64_t LineCounts::cost() const {
  std::uint64_t sum = 0;
  for (const AccessCounts& a : accesses) sum += l1_cycles(a);
  return sum;
}

std::uint64_t LineCounts::ideal_cost() const {
  std::uint64_t sum = 0;
  for (const AccessCounts& a : accesses) sum += ideal_l1_cycles(a);
  return sum;
}

std::vector<std::string> source_lines(const std::string& file) {
  std::ifstream in(file);
  const char* const folder = std::getenv("WARPLADDER_SOURCE_DIR");
  if (!in && folder) in = std::ifstream(std::filesystem::path(folder) / file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<LineCounts> lines_of(const std::vector<executor::KernelCounts>& launches) {
  std::map<std::pair<std::string, int>, LineCounts> by_place;
  Sources sources;
  const auto line_at = [&](const std::string& file, int line) -> LineCounts& {
    const auto [at, is_new] = by_place.try_emplace({file, line});
    if (is_new) at->second = {file, line, sources.line(file, line), {}, 0, 0, 0, 0, 0, {}};
    return at->second;
  };
  for (const executor::KernelCounts& launch : launches) {
    for (std::size_t i = 0; i < launch.accesses.size(); ++i) {
      const AccessCounts& a = launch.accesses[i];
      const executor::Request request =
          i < launch.worst_requests.size() ? launch.worst_requests[i] : executor::Request();
      LineCounts& line = line_at(a.file, a.line);
      std::vector<AccessCounts>& list = line.accesses;
      const auto kind = [](const AccessCounts& x) { return std::tie(x.space, x.kind, x.bytes); };
      const auto same =
          std::ranges::find_if(list, [&](const AccessCounts& x) { return kind(x) == kind(a); });
      if (same == list.end()) {
        list.push_back(a);
        line.worst_requests.push_back(request);
        continue;
      }
      if (a.worst > same->worst) line.worst_requests[same - list.begin()] = request;
      same->requests += a.requests;
      same->lanes += a.lanes;
      same->sectors += a.sectors;
      same->ideal_sectors += a.ideal_sectors;
      same->wavefronts += a.wavefronts;
      same->ideal_wavefronts += a.ideal_wavefronts;
      same->worst = std::max(same->worst, a.worst);
    }
    for (const executor::EventCounts& e : launch.events) {
      LineCounts& line = line_at(e.file, e.line);
      line.fmas += e.fmas;
      line.barriers += e.barriers;
      line.shuffles += e.shuffles;
      line.bulk_bytes += e.bulk_bytes;
      line.tensor_fmas += e.tensor_fmas;
    }
  }
  std::vector<LineCounts> lines;
  for (auto& [place, line] : by_place) lines.push_back(std::move(line));
  std::ranges::stable_sort(lines, [](const LineCounts& a, const LineCounts& b) {
    return std::pair(a.cost(), a.fmas) > std::pair(b.cost(), b.fmas);
  });
  return lines;
}

std::optional<Waste> waste_of(const LineCounts& line, std::uint64_t all_cycles) {
  const auto wasted = static_cast<double>(line.avoidable());
  if (wasted <= 0 || wasted < kWorthBlaming * static_cast<double>(all_cycles)) return std::nullopt;
  const AccessCounts& access = *std::ranges::max_element(line.accesses, {}, avoidable);
  const char* const kind = access.space == MemorySpace::shared          ? "bank conflicts"
                           : access.sectors >= 2 * access.ideal_sectors ? "uncoalesced access"
                                                                        : "misaligned access";
  return Waste{kind, sentence_on_waste(access)};
}

std::optional<Blame> blame(const std::vector<LineCounts>& lines, const Gpu& gpu) {
  std::uint64_t cost = 0, fmas = 0;
  for (const LineCounts& line : lines) {
    cost += line.cost();
    fmas += line.fmas;
  }
  if (cost == 0) return std::nullopt;
  const auto worst = std::ranges::max_element(lines, {}, &LineCounts::avoidable);
  if (const auto waste = waste_of(*worst, cost)) {
    return Blame{static_cast<std::size_t>(worst - lines.begin()), waste->sentence};
  }
  return Blame{0, sentence_on_reuse(lines.front(), fmas, gpu)};
}

const std::vector<TotalField>& total_fields() {
  using ladder::Totals;
  static const std::vector<TotalField> fields{
      {"global load requests", "global_load_requests", &Totals::global_load_requests},
      {"global load sectors", "global_load_sectors", &Totals::global_load_sectors},
      {"global store requests", "global_store_requests", &Totals::global_store_requests},
      {"global store sectors", "global_store_sectors", &Totals::global_store_sectors},
      {"shared load requests", "shared_load_requests", &Totals::shared_load_requests},
      {"shared load wavefronts", "shared_load_wavefronts", &Totals::shared_load_wavefronts},
      {"shared store requests", "shared_store_requests", &Totals::shared_store_requests},
      {"shared store wavefronts", "shared_store_wavefronts", &Totals::shared_store_wavefronts},
      {"FMAs", "fmas", &Totals::fmas},
      {"barriers", "barriers", &Totals::barriers},
      {"shuffles", "shuffles", &Totals::shuffles},
      {"copy engine bytes", "bulk_bytes", &Totals::bulk_bytes},
      {"tensor core FMAs", "tensor_fmas", &Totals::tensor_fmas},
  };
  return fields;
}

ladder::Totals ideal_totals(std::vector<executor::KernelCounts> launches) {
  for (executor::KernelCounts& launch : launches) {
    for (AccessCounts& a : launch.accesses) {
      a.sectors = a.ideal_sectors;
      a.wavefronts = a.ideal_wavefronts;
    }
  }
  return ladder::totals_of(launches);
}

bool CompiledResources::runs_on(const Gpu& gpu) const {
  if (architecture.empty()) return true;
  return std::atoi(architecture.c_str() + sizeof "sm_" - 1) / 10 == gpu.machine.capability / 10;
}

const CompiledResources* Explanation::compiled_of(const std::string& kernel, const Gpu& of) const {
  for (auto [at, end] = compiled.equal_range(kernel); at != end; ++at) {
    if (at->second.runs_on(of)) return &at->second;
  }
  return nullptr;
}

std::uint64_t Explanation::cost() const {
  std::uint64_t sum = 0;
  for (const LineCounts& line : lines) sum += line.cost();
  return sum;
}

std::uint64_t Explanation::ideal_cost() const {
  std::uint64_t sum = 0;
  for (const LineCounts& line : lines) sum += line.ideal_cost();
  return sum;
}

namespace {

// The mean of `part` over requests to load from global memory.
double per_global_load(const std::vector<LineCounts>& lines, std::uint64_t AccessCounts::*part) {
  std::uint64_t requests = 0, sum = 0;
  for (const LineCounts& line : lines) {
    for (const AccessCounts& a : line.accesses) {
      if (a.space != MemorySpace::global || a.kind != AccessKind::load) continue;
      requests += a.requests;
      sum += a.*part;
    }
  }
  return requests ? static_cast<double>(sum) / static_cast<double>(requests) : 0;
}

}  // namespace

double Explanation::lanes_per_global_load() const {
  return per_global_load(lines, &AccessCounts::lanes);
}

double Explanation::sectors_per_global_load() const {
  return per_global_load(lines, &AccessCounts::sectors);
}

double Explanation::ideal_sectors_per_global_load() const {
  return per_global_load(lines, &AccessCounts::ideal_sectors);
}

namespace {

// Those of the tensor cores too, if loads feed them.
double fed_by_loads(const ladder::Totals& totals) {
  return static_cast<double>(totals.fmas + (totals.bulk_bytes ? 0 : totals.tensor_fmas));
}

}  // namespace

double Explanation::fmas_per_sector_byte() const {
  const auto sectors =
      static_cast<double>(totals.global_load_sectors + totals.global_store_sectors);
  return sectors > 0 ? fed_by_loads(totals) / (sectors * kBytesPerSector) : 0;
}

double Explanation::fmas_per_shared_wavefront() const {
  const auto wavefronts =
      static_cast<double>(totals.shared_load_wavefronts + totals.shared_store_wavefronts);
  return wavefronts > 0 ? fed_by_loads(totals) / wavefronts : 0;
}

std::vector<Roof> Explanation::roofs() const {
  const auto sectors =
      static_cast<double>(totals.global_load_sectors + totals.global_store_sectors);
  return {{"DRAM, each operand moved once", minimal_bytes, gpu->dram_bytes_per_s},
          {"L1, global sectors", sectors * kBytesPerSector, gpu->l1_bytes_per_s()},
          {"L1, all its cycles", static_cast<double>(cost()) * Gpu::l1_bytes_per_cycle,
           gpu->l1_bytes_per_s()}};
}

Peak Explanation::peak() const {
  if (tensor_flops_per_s <= 0 || totals.tensor_fmas == 0) {
    return {"FP32 units", gpu->fp32_flops_per_s()};
  }
  const double seconds = 2 * static_cast<double>(totals.tensor_fmas) / tensor_flops_per_s;
  return {"tensor cores, all their products", flops / seconds};
}

double Explanation::ceiling(const Roof& roof) const {
  const double most = peak().flops_per_s;
  if (roof.bytes <= 0) return flops > 0 ? most : 0;
  return std::min(most, flops / roof.bytes * roof.bytes_per_s);
}

const Roof* Explanation::binding(const std::vector<Roof>& roofs) const {
  const auto seconds = [](const Roof& roof) { return roof.bytes / roof.bytes_per_s; };
  const auto slowest = std::ranges::max_element(roofs, {}, seconds);
  const bool bytes_bind = slowest != roofs.end() && seconds(*slowest) > flops / peak().flops_per_s;
  return bytes_bind ? &*slowest : nullptr;
}

double Explanation::seconds_by_counts() const {
  double seconds = flops / peak().flops_per_s;
  for (const Roof& roof : roofs()) seconds = std::max(seconds, roof.bytes / roof.bytes_per_s);
  return seconds;
}

Explanation Explanation::on(const Gpu& other) const {
  Explanation there = *this;
  there.gpu = &other;
  if (arithmetic.tensor_cores()) there.tensor_flops_per_s = arithmetic.flops_per_s(other.machine);
  return there;
}

std::string Explanation::why_not_on(const Gpu& other) const {
  return op.empty() ? "" : ladder::why_not(ladder::find_rung(op, rung), other.machine);
}

PlainProblem problem_to_explain(const std::vector<Selected>& rungs,
                                const std::optional<std::string>& variant) {
  const ops::Operator& op = *rungs.at(0).op;
  const std::vector<std::string> variants =
      variant ? std::vector<std::string>{*variant} : op.variants();
  const auto takes = [](const Selected& selected, const PlainProblem& problem) {
    const auto trial =
        selected.op->case_of_shape(problem.shape, problem.variant).prepare(runtime::Target::cpu);
    return ladder::why_not(*selected.rung, trial->call()).empty();
  };
  for (const std::vector<std::int64_t>& shape : op.explained_shapes()) {
    for (const std::string& each : variants) {
      const PlainProblem problem{shape, each};
      if (std::ranges::all_of(rungs, [&](const Selected& one) { return takes(one, problem); })) {
        return problem;
      }
    }
  }
  return {op.explained_shapes().at(0), variants.at(0)};
}

Explanation explain(const Selected& selected, const std::vector<std::int64_t>& shape,
                    const std::string& variant, const ExplainOptions& options) {
  const ladder::AnyRung& rung = *selected.rung;
  const auto require = [&](const std::string& why_not) {
    if (why_not.empty()) return;
    throw_bad_input(fmt::format("{} cannot be explained: {}", rung.full_name(), why_not));
  };
  require(ladder::why_not(rung, runtime::Flavour::counted));
  std::optional<device::StandIn> stand_in;
  if (options.gpu) {
    require(ladder::why_not(rung, options.gpu->machine));
    stand_in.emplace(options.gpu->machine);
  }
  const runtime::Machine& machine = device::machine(runtime::Target::cpu);
  const auto trial = selected.op->case_of_shape(shape, variant).prepare(runtime::Target::cpu);
  require(ladder::why_not(rung, trial->call()));
  trial->provide_workspace(rung.workspace_for(trial->call(), machine));
  trial->reset();
  if (options.announce) {
    const unsigned cores =
        options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
    options.announce(trial->flops() / 2 * kCountedFmaSeconds / cores);
  }
  Explanation e;
  if (options.gpu) e.gpu = options.gpu;
  e.op = selected.op->name();
  e.rung = rung.id;
  e.idea = rung.idea;
  e.shape = shape;
  e.variant = variant;
  e.flops = trial->flops();
  e.minimal_bytes = trial->minimal_bytes();
  e.arithmetic = rung.arithmetic_for(trial->call());
  if (e.arithmetic.tensor_cores()) e.tensor_flops_per_s = e.arithmetic.flops_per_s(machine);

  device::Stream stream(runtime::Target::cpu);
  stream.executor_threads = options.threads;
  const executor::BlockLimit limit(options.block_limit_s);
  const auto prepare = rung.preparation(runtime::Flavour::counted);
  if (prepare) prepare(trial->call(), stream);  // once, and so not what a product costs
  stream.record_counts = &e.launches;
  rung.launcher(runtime::Flavour::counted)(trial->call(), stream);

  e.totals = ladder::totals_of(e.launches);
  e.ideal = ideal_totals(e.launches);
  // Rungs do not predict for details of a variant, such as a batch.
  const bool is_plain = !shape.empty() && variant.find(' ') == variant.npos;
  if (rung.predict && is_plain) e.predicted = rung.predict(trial->call(), machine);
  e.lines = lines_of(e.launches);
  e.to_blame = blame(e.lines, *e.gpu);
  return e;
}

}  // namespace warpladder::lab
