#include "lab/ncu_metrics.hpp"

#include <fmt/format.h>

#include <string_view>

namespace warpladder::lab {
namespace {

using executor::AccessCounts;
using executor::AccessKind;
using executor::MemorySpace;

// A counter that sums something over the accesses of one space and kind.
struct AccessMetric {
  const char* name;
  MemorySpace space;
  AccessKind kind;
  std::uint64_t (*value)(const AccessCounts&);
};

std::uint64_t requests(const AccessCounts& a) { return a.requests; }
std::uint64_t sectors(const AccessCounts& a) { return a.sectors; }
std::uint64_t wavefronts(const AccessCounts& a) { return a.wavefronts; }
std::uint64_t conflicts(const AccessCounts& a) { return a.bank_conflicts(); }

constexpr auto kGlobal = MemorySpace::global, kShared = MemorySpace::shared;
constexpr auto kLoad = AccessKind::load, kStore = AccessKind::store;

constexpr AccessMetric kAccessMetrics[] = {
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", kGlobal, kLoad, requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", kGlobal, kLoad, sectors},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", kGlobal, kStore, requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", kGlobal, kStore, sectors},
    {"smsp__inst_executed_op_shared_ld.sum", kShared, kLoad, requests},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", kShared, kLoad, wavefronts},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", kShared, kLoad, conflicts},
    {"smsp__inst_executed_op_shared_st.sum", kShared, kStore, requests},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", kShared, kStore, wavefronts},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", kShared, kStore, conflicts},
};

// What corresponds to a metric without its rollup, in the words of explain's tables.
struct Counterpart {
  const char* metric;
  const char* ours;
};
constexpr Counterpart kCounterparts[] = {
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld", "global load requests"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld", "global load sectors"},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_ld", "32 times the global load sectors"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st", "global store requests"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st", "global store sectors"},
    {"l1tex__t_bytes_pipe_lsu_mem_global_op_st", "32 times the global store sectors"},
    {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld", "sectors per global load"},
    {"smsp__inst_executed_op_global_ld", "global load requests"},
    {"sm__sass_inst_executed_op_global_ld", "global load requests"},
    {"smsp__inst_executed_op_global_st", "global store requests"},
    {"sm__sass_inst_executed_op_global_st", "global store requests"},
    {"smsp__inst_executed_op_shared_ld", "shared load requests"},
    {"sm__sass_inst_executed_op_shared_ld", "shared load requests"},
    {"smsp__inst_executed_op_shared_st", "shared store requests"},
    {"sm__sass_inst_executed_op_shared_st", "shared store requests"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld", "shared load wavefronts"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st", "shared store wavefronts"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared",
     "shared load and shared store wavefronts together"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld",
     "shared load wavefronts, actual less ideal"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st",
     "shared store wavefronts, actual less ideal"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared", "shared wavefronts, actual less ideal"},
    {"l1tex__data_pipe_lsu_wavefronts", "L1 cycles, by a simple model"},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on", "FMAs"},
    {"sm__sass_thread_inst_executed_op_ffma_pred_on", "FMAs"},
    {"launch__grid_size", "the grid of the kernel's line"},
    {"launch__block_size", "the block of the kernel's line"},
    {"launch__shared_mem_per_block_dynamic", "the dynamic shared memory of the kernel's line"},
    {"launch__registers_per_thread", "registers, where --cubin or the shipped table tells them"},
    {"launch__shared_mem_per_block_static",
     "static shared memory, where --cubin or the shipped table tells it"},
    {"launch__occupancy_limit_blocks", "occupancy and its limiter"},
    {"launch__occupancy_limit_registers", "occupancy and its limiter"},
    {"launch__occupancy_limit_shared_mem", "occupancy and its limiter"},
    {"launch__occupancy_limit_warps", "occupancy and its limiter"},
    {"sm__maximum_warps_avg_per_active_cycle", "the warps of the occupancy"},
    {"sm__maximum_warps_per_active_cycle_pct", "the share of the occupancy"},
};

bool holds(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// Why nothing corresponds.
std::string why_none(const std::string& metric) {
  const auto is_of = [&](std::string_view unit) { return metric.starts_with(unit); };
  if (holds(metric, "hit_rate") || holds(metric, "lookup_")) {
    return "Nothing of ours: no cache is simulated.";
  }
  if (is_of("dram__") || is_of("lts__") || is_of("ltc__") || is_of("fbpa__") ||
      holds(metric, "dram_throughput")) {
    return "Nothing of ours: what is behind L1 is not simulated.";
  }
  if (is_of("device__") || is_of("profiler__") || is_of("nvlink__") || is_of("numa__") ||
      is_of("c2clink__")) {
    return "Nothing of ours: it describes the machine or the profiler, not the kernel.";
  }
  if (holds(metric, "cycles") || holds(metric, "time") || holds(metric, "stalled") ||
      holds(metric, "throughput") || holds(metric, "issue") || holds(metric, "warps_") ||
      holds(metric, "frequency")) {
    return "Nothing of ours: nothing is timed.";
  }
  return "Nothing of ours corresponds.";
}

}  // namespace

std::vector<NcuMetric> ncu_metrics(const std::vector<executor::KernelCounts>& launches) {
  std::vector<NcuMetric> metrics;
  for (const AccessMetric& m : kAccessMetrics) {
    NcuMetric& metric = metrics.emplace_back(m.name);
    for (const executor::KernelCounts& launch : launches) {
      for (const AccessCounts& a : launch.accesses) {
        if (a.space == m.space && a.kind == m.kind) metric.value += m.value(a);
      }
    }
  }
  NcuMetric& fmas = metrics.emplace_back("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum");
  for (const executor::KernelCounts& launch : launches) {
    for (const executor::EventCounts& event : launch.events) fmas.value += event.fmas;
  }
  return metrics;
}

std::string counterpart_of(const std::string& metric) {
  const std::string bare = metric.substr(metric.rfind(':') + 1);
  const std::size_t dot = bare.find('.');
  const std::string base = bare.substr(0, dot);
  const std::string rollup = dot == bare.npos ? "" : bare.substr(dot);
  for (const Counterpart& c : kCounterparts) {
    if (base != c.metric) continue;
    if (rollup.empty() || rollup == ".sum" || rollup == ".ratio") {
      return fmt::format("Ours: {}.", c.ours);
    }
    if (rollup == ".avg" || rollup == ".min" || rollup == ".max") {
      return fmt::format("Ours has the sum over all units alone: {}.", c.ours);
    }
    return fmt::format("Ours has no time, only the count behind it: {}.", c.ours);
  }
  return why_none(base);
}

}  // namespace warpladder::lab
