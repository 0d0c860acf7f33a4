#include "executor/fault.hpp"

#include <fmt/format.h>

#include <utility>

namespace warpladder::executor {
namespace {

std::string describe(FaultKind kind, const KernelFault::Place& p, const std::string& sentence) {
  return fmt::format("{}:{}: {}: block ({},{},{}) thread ({},{},{}) of {}: {}", p.file, p.line,
                     name(kind), p.block.x, p.block.y, p.block.z, p.thread.x, p.thread.y,
                     p.thread.z, p.kernel, sentence);
}

}  // namespace

const char* name(FaultKind kind) {
  switch (kind) {
    case FaultKind::divergent_barrier:
      return "divergent barrier";
    case FaultKind::deadlock:
      return "deadlock";
    case FaultKind::bad_warp_mask:
      return "wrong warp mask";
    case FaultKind::inactive_lane_shuffle:
      return "shuffle from an inactive lane";
    case FaultKind::out_of_bounds:
      return "access out of bounds";
    case FaultKind::host_pointer:
      return "host pointer on the device";
    case FaultKind::misaligned_access:
      return "misaligned access";
    case FaultKind::uninitialised_shared_read:
      return "uninitialised shared memory";
    case FaultKind::uninitialised_global_read:
      return "uninitialised global memory";
    case FaultKind::shared_memory_race:
      return "shared-memory race";
    case FaultKind::unwaited_async_copy:
      return "asynchronous copy not waited for";
    case FaultKind::mbarrier_misuse:
      return "misused mbarrier";
    case FaultKind::copy_engine_misuse:
      return "misused copy engine";
    case FaultKind::tensor_core_misuse:
      return "misused tensor cores";
    case FaultKind::stack_overflow:
      return "stack overflow";
    case FaultKind::endless_loop:
      return "endless loop";
    case FaultKind::assertion:
      return "assertion failed";
    case FaultKind::trap:
      return "trap";
    case FaultKind::grid_barrier:
      return "barrier of the whole grid";
    case FaultKind::unknown_code:
      return "code outside a kernel";
  }
  return "fault";
}

KernelFault::KernelFault(FaultKind kind, Place place, const std::string& sentence)
    : Error(ErrorCode::check_failed, describe(kind, place, sentence)),
      kind_(kind),
      place_(std::move(place)),
      sentence_(sentence) {}

}  // namespace warpladder::executor
