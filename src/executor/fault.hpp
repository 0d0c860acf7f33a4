#pragma once
// What the executor says of a kernel that breaks CUDA's rules.

#include <string>

#include "base/error.hpp"
#include "executor/counts.hpp"

namespace warpladder::executor {

enum class FaultKind {
  divergent_barrier,
  deadlock,
  bad_warp_mask,
  inactive_lane_shuffle,
  out_of_bounds,
  host_pointer,
  misaligned_access,
  uninitialised_shared_read,
  uninitialised_global_read,
  shared_memory_race,
  unwaited_async_copy,
  mbarrier_misuse,
  copy_engine_misuse,
  tensor_core_misuse,
  stack_overflow,
  endless_loop,
  assertion,
  trap,
  grid_barrier,
  unknown_code,
};

const char* name(FaultKind kind);

class KernelFault : public Error {
 public:
  struct Place {
    std::string kernel, file;
    int line = 0;
    runtime::Dim3 block{0, 0, 0}, thread{0, 0, 0};
  };
  KernelFault(FaultKind kind, Place place, const std::string& sentence);

  FaultKind kind() const { return kind_; }
  const Place& place() const { return place_; }
  const std::string& sentence() const { return sentence_; }  // what() without kind and place

 private:
  FaultKind kind_;
  Place place_;
  std::string sentence_;
};

}  // namespace warpladder::executor
