#pragma once
// Which of a build's GPU code runs on a GPU, in words, and how a build for that GPU would be
// better.

#include <optional>
#include <string>
#include <vector>

namespace warpladder::device {

struct GpuCode {
  int gpu = 90;                   // the GPU's compute capability, 10 · major + minor
  int capability = 90;            // that the code which runs there was compiled for
  bool hopper = true;             // whether machine code for sm_90a runs
  std::vector<int> machine_code;  // the architectures for which the build holds any
  bool compiles_ptx = false;      // the driver was told to take PTX alone: CUDA_FORCE_PTX_JIT=1

  // Whether no machine code fits the GPU: that of the same major version and no later minor one
  // does.
  bool runs_ptx() const;
};

// "machine code for compute capability 9.0, Hopper's own instructions included"
std::string what_runs(const GpuCode& code);

// What a better build would give, and how to get it; null where there is none.
struct BetterCode {
  std::string what, remedy;
};
std::optional<BetterCode> better_code(const GpuCode& code);

// 90 → "9.0"
std::string capability_text(int capability);

}  // namespace warpladder::device
