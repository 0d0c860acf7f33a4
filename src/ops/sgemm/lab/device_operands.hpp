#pragma once
// The operands of a case in device memory, and the call that multiplies them.

#include <cstddef>
#include <string>

#include "device/device.hpp"
#include "ops/sgemm/lab/cases.hpp"

namespace warpladder::sgemm {

class DeviceOperands {
 public:
  // Nothing is written into the matrices. The workspace is that of the case's problem.
  DeviceOperands(const GemmCase& c, runtime::Target target);

  const Call& call() const { return call_; }
  void provide_workspace(std::size_t bytes);
  // Of the prepared B, too, for calls of a single product.
  void spoil_workspace() {
    workspace_.fill(0xff);  // NaN, whatever it is taken for
    prepared_.fill(0xff);
  }
  // What was written outside the matrices and the workspace, or empty.
  std::string first_trespass() const;

  device::Buffer<float> a, b, c;

 private:
  void point_at(const GemmCase& of);

  device::Buffer<const float*> a_pointers_, b_pointers_;
  device::Buffer<float*> c_pointers_;
  device::Memory workspace_, prepared_;
  Call call_;
};

}  // namespace warpladder::sgemm
