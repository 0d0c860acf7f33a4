#include "lab/exercise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "lab/explain.hpp"

namespace warpladder::lab {
namespace {

using executor::AccessCounts;
using executor::AccessKind;
using executor::KernelCounts;
using executor::MemorySpace;
using Launches = std::vector<KernelCounts>;

// Sums over the accesses of all launches that `is_meant` takes.
template <class IsMeant, class Value>
double sum(const Launches& launches, IsMeant is_meant, Value value) {
  double total = 0;
  for (const KernelCounts& launch : launches) {
    for (const AccessCounts& a : launch.accesses) {
      if (is_meant(a)) total += static_cast<double>(value(a));
    }
  }
  return total;
}

bool is_global(const AccessCounts& a) { return a.space == MemorySpace::global; }
bool is_shared(const AccessCounts& a) { return a.space == MemorySpace::shared; }
bool is_global_load(const AccessCounts& a) { return is_global(a) && a.kind == AccessKind::load; }
bool is_shared_load(const AccessCounts& a) { return is_shared(a) && a.kind == AccessKind::load; }
std::uint64_t requests_of(const AccessCounts& a) { return a.requests; }
std::uint64_t sectors_of(const AccessCounts& a) { return a.sectors; }
std::uint64_t wavefronts_of(const AccessCounts& a) { return a.wavefronts; }

// NaN where the denominator is 0: such a goal is never met.
double sectors_per_request(const Launches& l) {
  return sum(l, is_global, sectors_of) / sum(l, is_global, requests_of);
}
double sectors_per_load(const Launches& l) {
  return sum(l, is_global_load, sectors_of) / sum(l, is_global_load, requests_of);
}
double lanes_per_load(const Launches& l) {
  return sum(l, is_global_load, [](const AccessCounts& a) { return a.lanes; }) /
         sum(l, is_global_load, requests_of);
}
double wavefronts_per_request(const Launches& l) {
  return sum(l, is_shared, wavefronts_of) / sum(l, is_shared, requests_of);
}

double fmas_per_wavefront(const Launches& l) {
  double fmas = 0;
  for (const KernelCounts& launch : l) {
    for (const executor::EventCounts& e : launch.events) fmas += static_cast<double>(e.fmas);
  }
  return fmas / sum(l, is_shared_load, wavefronts_of);
}

double barriers_per_warp(const Launches& l) {
  double barriers = 0, warps = 0;
  for (const KernelCounts& launch : l) {
    const auto& [grid, block] = std::pair(launch.grid, launch.block);
    const double threads = static_cast<double>(block.x) * block.y * block.z;
    warps += std::ceil(threads / 32) * grid.x * grid.y * grid.z;
    for (const executor::EventCounts& e : launch.events)
      barriers += static_cast<double>(e.barriers);
  }
  return barriers / warps;
}

double avoidable_percent(const Launches& l) {
  const auto all = [](const AccessCounts&) { return true; };
  const double cost = sum(l, all, l1_cycles), ideal = sum(l, all, ideal_l1_cycles);
  return 100 * (cost - ideal) / cost;
}

constexpr Goal kCoalescingGoals[] = {
    {"sectors a global request", sectors_per_request, 4, true,
     "Neighbouring lanes of a warp should touch neighbouring words: let threadIdx.x choose the "
     "column."}};
constexpr Goal kBankGoals[] = {
    {"sectors a global request", sectors_per_request, 4, true,
     "Keep the tile: without it one side of the transpose is not coalesced."},
    {"wavefronts a shared request", wavefronts_per_request, 1, true,
     "A column of the tile lies in one bank. Rows of 33 words put its words into 32 banks."}};
constexpr Goal kRegisterGoals[] = {
    {"FMAs a wavefront of shared loads", fmas_per_wavefront, 25, false,
     "Load the word of B once for each k, and use it for all four sums, which stay in registers."}};
constexpr Goal kPipelineGoals[] = {
    {"barriers a warp", barriers_per_warp, 16, true,
     "There are 16 tiles. With two buffers one barrier a tile is enough: a thread writes to the "
     "other buffer."}};
constexpr Goal kReductionGoals[] = {
    {"barriers a warp", barriers_per_warp, 1, true,
     "Let each warp reduce its 32 values with __shfl_down_sync first. After one barrier one warp "
     "adds what the eight warps left."}};
constexpr Goal kSparseGoals[] = {
    {"sectors a global load", sectors_per_load, 6, true,
     "Give each row a warp: its lanes then read neighbouring entries."},
    {"lanes a global load", lanes_per_load, 24, false,
     "All lanes of the row's warp should share the row's entries."}};
constexpr Goal kProfilingGoals[] = {
    {"% of all L1 cycles that are avoidable", avoidable_percent, 10, true,
     "`warpladder explain FILE --brief` names the line to blame of each kernel. Mend the costliest "
     "one first."}};

constexpr Exercise kExercises[] = {
    {1,
     "01_threads_and_blocks.cu",
     "Threads and blocks",
     "axpy",
     "A thread's element depends on its block, too, and the last block has more threads than there "
     "are elements left.",
     {}},
    {2, "02_coalescing.cu", "Coalescing", "scale_columns",
     "Each element of the matrix is multiplied by its column's factor, once.", kCoalescingGoals},
    {3, "03_banks.cu", "Shared memory and banks", "transpose",
     "The tile is written by rows and read by columns, with a barrier in between.", kBankGoals},
    {4, "04_registers.cu", "Registers and occupancy", "multiply",
     "Each thread computes four rows of one column of C.", kRegisterGoals},
    {5, "05_pipelining.cu", "Pipelining", "mirror_sums",
     "A tile must not be overwritten before every thread has read it: two tiles take turns.",
     kPipelineGoals},
    {6,
     "06_tensor_cores.cu",
     "Tensor cores",
     "multiply",
     "Lane l has g = l / 4 and t = l % 4. The comment says which words of A and B it holds.",
     {}},
    {7,
     "07_splitting.cu",
     "Splitting numbers",
     "multiply",
     "x = hi + lo, and three of the four products count. A small lo is subnormal as a half: scale "
     "it by 2048, and its products back.",
     {}},
    {8, "08_reductions.cu", "Reductions", "sum_blocks",
     "Each block leaves the sum of its 256 values.", kReductionGoals},
    {9, "09_sparse.cu", "Sparse matrices", "multiply",
     "y[row] is the sum of values[i] * x[columns[i]] over the row's entries.", kSparseGoals},
    {10, "10_profiling.cu", "Profiling", "",
     "The results were right before: compare your change with the kernel as it was.",
     kProfilingGoals},
};

}  // namespace

std::span<const Exercise> all_exercises() { return kExercises; }

const Exercise& find_exercise(std::int64_t number) {
  const std::span<const Exercise> all = all_exercises();
  const auto found = std::ranges::find(all, number, &Exercise::number);
  if (found == all.end()) {
    throw_bad_input(
        fmt::format("there is no exercise {}; they are numbered 1 to {}", number, all.size()));
  }
  return *found;
}

std::vector<GoalResult> judge_goals(const Exercise& exercise, const Launches& launches) {
  Launches meant;
  for (const KernelCounts& launch : launches) {
    if (*exercise.kernel == '\0' || launch.kernel == exercise.kernel) meant.push_back(launch);
  }
  std::vector<GoalResult> results;
  for (const Goal& goal : exercise.goals) {
    GoalResult& result = results.emplace_back(GoalResult{&goal, {}, false});
    const double counted = goal.count(meant);
    if (std::isnan(counted)) continue;
    result.counted = counted;
    result.is_met = goal.is_at_most ? counted <= goal.limit : counted >= goal.limit;
  }
  return results;
}

}  // namespace warpladder::lab
