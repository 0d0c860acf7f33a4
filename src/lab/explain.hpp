#pragma once
// The memory traffic and arithmetic of a rung, line by line, and the line to blame. All numbers are
// counted or computed from counts; nothing is timed.
//
// The cost of a line is the cycles it keeps the L1 data stage of its SM busy. That stage serves
// global and shared memory alike, and moves 128 bytes a cycle:
// - global: one cycle a request, or one for every 4 sectors of 32 bytes, whichever is more;
// - shared: one cycle a wavefront.
// The ideal cost has as many requests, but only the sectors that the requested bytes fill and the
// wavefronts that the width demands. The difference is avoidable. Misses, latency and the SM's
// other units are not in this model.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "executor/counts.hpp"
#include "lab/gpus.hpp"
#include "lab/selection.hpp"

namespace warpladder::lab {

std::uint64_t l1_cycles(const executor::AccessCounts& access);
std::uint64_t ideal_l1_cycles(const executor::AccessCounts& access);

// One line of source, over all launches.
struct LineCounts {
  std::string file;
  int line = 0;
  std::string text;  // empty if the file is not to be found
  std::vector<executor::AccessCounts> accesses;
  std::uint64_t fmas = 0, barriers = 0, shuffles = 0;
  std::uint64_t bulk_bytes = 0, tensor_fmas = 0;
  std::vector<executor::Request> worst_requests;  // of each of `accesses`; empty if not known

  std::uint64_t cost() const;  // in L1 cycles
  std::uint64_t ideal_cost() const;
  std::uint64_t avoidable() const { return cost() - ideal_cost(); }
};

// The lines of a file as it lies here, or in the folder that WARPLADDER_SOURCE_DIR names; none if
// it is not to be found.
std::vector<std::string> source_lines(const std::string& file);

// The costliest first; of equal cost, those with more FMAs, then in the order of the source.
std::vector<LineCounts> lines_of(const std::vector<executor::KernelCounts>& launches);

// The line with the most avoidable cost. If no line can avoid 1 % of all cost, the costliest line.
struct Blame {
  std::size_t line = 0;  // into the lines that were given
  std::string sentence;  // what its counts mean
};
// For lines in the order of lines_of(); empty if nothing has a cost.
std::optional<Blame> blame(const std::vector<LineCounts>& lines, const Gpu& gpu = default_gpu());

// What a line asks for in vain, by its worst access: nothing below 1 % of `all_cycles`.
struct Waste {
  std::string kind;  // "bank conflicts", "uncoalesced access", "misaligned access"
  std::string sentence;
};
std::optional<Waste> waste_of(const LineCounts& line, std::uint64_t all_cycles);

// A field of ladder::Totals, for tables and reports.
struct TotalField {
  const char* name;
  const char* key;  // in JSON
  std::uint64_t ladder::Totals::*value;
};
const std::vector<TotalField>& total_fields();
// The totals if every access touched only the bytes that it needs.
ladder::Totals ideal_totals(std::vector<executor::KernelCounts> launches);

// A roof: the arithmetic rate if all bytes of this kind pass, as the source requests them. nvcc may
// merge loads, and then a run is faster: a roof of L1 does not rank kernels.
struct Roof {
  std::string name;
  double bytes = 0, bytes_per_s = 0;
};

// The rate if nothing else limits it.
struct Peak {
  std::string name;
  double flops_per_s = 0;
};

// What a compiler made of a kernel.
struct CompiledResources {
  unsigned registers = 0;               // of a thread
  std::size_t static_shared_bytes = 0;  // of a block
  std::string source;                   // which says so
  std::string architecture;             // "sm_80"; empty: that of the GPU at hand

  bool runs_on(const Gpu& gpu) const;
};

struct Explanation {
  const Gpu* gpu = &default_gpu();  // whose roofs and occupancy
  std::string op, rung, idea, variant;
  std::vector<std::int64_t> shape;
  std::vector<executor::KernelCounts> launches;
  ladder::Totals totals, ideal;
  // Valid for sizes that are multiples of the rung's tile. A matrix without a shape has none.
  std::optional<ladder::Totals> predicted;
  double flops = 0, minimal_bytes = 0;
  ladder::Arithmetic arithmetic;  // whose rates of tensor cores a GPU's roofs need
  double tensor_flops_per_s = 0;  // of the tensor cores that the rung uses; 0: it uses none
  std::vector<LineCounts> lines;  // the costliest first
  std::optional<Blame> to_blame;
  // By the launches' names, for one architecture or more; where it is known.
  std::multimap<std::string, CompiledResources> compiled;

  std::string full_name() const { return op.empty() ? rung : op + "/" + rung; }
  // The same launches on another GPU.
  Explanation on(const Gpu& other) const;
  // Why a GPU cannot run it; empty if it can, as far as is known.
  std::string why_not_on(const Gpu& other) const;
  const CompiledResources* compiled_of(const std::string& kernel, const Gpu& of) const;
  bool prediction_holds() const { return predicted && ladder::agrees(totals, *predicted); }
  std::uint64_t cost() const;  // of all lines, in L1 cycles
  std::uint64_t ideal_cost() const;
  // Averages per request to load from global memory; 0 without such requests.
  double lanes_per_global_load() const;
  double sectors_per_global_load() const;
  double ideal_sectors_per_global_load() const;
  double fmas_per_sector_byte() const;       // 0 where there are no sectors
  double fmas_per_shared_wavefront() const;  // 0 where there are no wavefronts

  std::vector<Roof> roofs() const;
  // The units that multiply: FP32 units, or tensor cores, which may need several products for one.
  Peak peak() const;
  // FLOP/s below the roof, at most the peak; 0 for an operator without arithmetic.
  double ceiling(const Roof& roof) const;
  // The lowest roof; null if the multiplying units limit.
  const Roof* binding(const std::vector<Roof>& roofs) const;
  // What the lowest of all leaves, the multiplying units included.
  double seconds_by_counts() const;
};

// Called before the executor starts, with the estimated time.
using Announce = std::function<void(double seconds)>;

struct ExplainOptions {
  unsigned threads = 0;
  Announce announce = nullptr;
  double block_limit_s = 0;  // see executor::BlockLimit
  // The GPU whose launches are shown; null: the executor's own.
  const Gpu* gpu = nullptr;
};

// Where nobody says a shape: one of the operator's that all of the rungs take, in `variant` if that
// is given. If there is none, the first one.
struct PlainProblem {
  std::vector<std::int64_t> shape;
  std::string variant;
};
PlainProblem problem_to_explain(const std::vector<Selected>& rungs,
                                const std::optional<std::string>& variant);

// Runs the rung's counted flavour on the CPU. Throws Error(bad_input) if there is none, or if the
// rung does not accept the problem or the GPU. `variant` is one of the operator's or,
// where `shape` is empty, a matrix.
Explanation explain(const Selected& selected, const std::vector<std::int64_t>& shape,
                    const std::string& variant, const ExplainOptions& options = {});

}  // namespace warpladder::lab
