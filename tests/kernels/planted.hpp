#pragma once
// Kernels with a planted fault: what the executor must say of each, and that it goes on afterwards.

#include <string>
#include <vector>

#include "executor/fault.hpp"
#include "kernels/testing.hpp"

namespace warpladder::kernel_tests {

using executor::FaultKind;
using executor::KernelFault;

struct Expected {
  FaultKind kind;
  std::string file, mark;  // the line that ends in "// FAULT: <mark>"
  unsigned thread = 0;     // x
  std::vector<std::string> words = {};
  unsigned block = 0;  // x
};

// Launches and compares. `stream` is of the CPU.
inline void expect_fault(device::Stream& stream, Flavour flavour, const std::string& kernel,
                         const Arguments& arguments, const Expected& expected) {
  SCOPED_TRACE(kernel + " " + name_of(flavour));
  try {
    launch(stream, flavour, kernel, arguments);
  } catch (const KernelFault& fault) {
    const std::string what = fault.what();
    EXPECT_EQ(fault.kind(), expected.kind) << what;
    EXPECT_EQ(fault.code(), ErrorCode::check_failed) << what;
    const KernelFault::Place& place = fault.place();
    EXPECT_EQ(place.kernel, "kernel_tests::" + kernel) << what;
    if (!expected.mark.empty()) {
      EXPECT_TRUE(place.file.ends_with("kernels/" + expected.file)) << what;
      EXPECT_EQ(place.line, line_of(expected.file, "FAULT: " + expected.mark)) << what;
    }
    EXPECT_EQ(place.block, (runtime::Dim3{expected.block, 0, 0})) << what;
    EXPECT_EQ(place.thread, (runtime::Dim3{expected.thread, 0, 0})) << what;
    for (const std::string& words : expected.words) {
      EXPECT_NE(what.find(words), std::string::npos) << "'" << words << "' is not in: " << what;
    }
    EXPECT_NE(what.find(name(expected.kind)), std::string::npos) << what;
    return;
  }
  ADD_FAILURE() << "no fault was found";
}

}  // namespace warpladder::kernel_tests
