#include "lab/ncu_metrics.hpp"

#include <gtest/gtest.h>

#include <map>

namespace warpladder::lab {
namespace {

using executor::AccessKind;
using executor::MemorySpace;

std::map<std::string, std::uint64_t> by_name(const std::vector<executor::KernelCounts>& launches) {
  std::map<std::string, std::uint64_t> values;
  for (const NcuMetric& metric : ncu_metrics(launches)) {
    EXPECT_TRUE(values.emplace(metric.name, metric.value).second) << metric.name << " twice";
  }
  return values;
}

TEST(NcuMetrics, EachCountHasItsName) {
  executor::KernelCounts counts;
  // file, line, space, kind, bytes, requests, lanes, sectors, ideal, wavefronts, ideal, worst
  counts.accesses = {
      {"a.cu", 1, MemorySpace::global, AccessKind::load, 4, 10, 320, 40, 40, 0, 0, 4},
      {"a.cu", 2, MemorySpace::global, AccessKind::load, 16, 3, 96, 48, 48, 0, 0, 16},
      {"a.cu", 3, MemorySpace::global, AccessKind::store, 4, 5, 160, 160, 20, 0, 0, 32},
      {"a.cu", 4, MemorySpace::shared, AccessKind::load, 4, 7, 224, 0, 0, 21, 7, 3},
      {"a.cu", 5, MemorySpace::shared, AccessKind::store, 16, 2, 64, 0, 0, 16, 8, 8},
      {"a.cu", 6, MemorySpace::shared, AccessKind::atomic, 4, 1, 32, 0, 0, 32, 1, 32},
      {"a.cu", 6, MemorySpace::global, AccessKind::atomic, 4, 1, 32, 32, 4, 0, 0, 32},
  };
  counts.events = {{"a.cu", 7, 1024, 3, 0}};
  const std::map<std::string, std::uint64_t> expected{
      {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 13},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 88},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 5},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 160},
      {"smsp__inst_executed_op_shared_ld.sum", 7},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 21},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 14},
      {"smsp__inst_executed_op_shared_st.sum", 2},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 16},
      {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 8},
      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 1024},
  };
  EXPECT_EQ(by_name({counts}), expected);
}

TEST(NcuMetrics, LaunchesAddUp) {
  executor::KernelCounts counts;
  counts.accesses = {
      {"a.cu", 1, MemorySpace::global, AccessKind::load, 4, 10, 320, 40, 40, 0, 0, 4}};
  counts.events = {{"a.cu", 1, 64, 0, 0}};
  auto values = by_name({counts, counts, counts});
  EXPECT_EQ(values["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 120);
  EXPECT_EQ(values["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"], 192);
  for (const auto& [metric, value] : by_name({})) EXPECT_EQ(value, 0) << metric;
}

}  // namespace
}  // namespace warpladder::lab
