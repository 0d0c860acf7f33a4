#include "lab/ncu_metrics.hpp"

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

}  // namespace warpladder::lab
