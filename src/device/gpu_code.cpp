#include "device/gpu_code.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warpladder::device {
namespace {

bool fits(int machine_code, int gpu) {
  return machine_code / 10 == gpu / 10 && machine_code <= gpu;
}

// What to configure for a GPU: of the architectures that the build knows the latest that it takes.
int best_for(int gpu) {
  int best = 75;
  for (const int known : {80, 86, 89, 90, 100, 120}) {
    if (known <= gpu) best = known;
  }
  return best;
}

}  // namespace

std::string capability_text(int capability) {
  return fmt::format("{}.{}", capability / 10, capability % 10);
}

bool GpuCode::runs_ptx() const {
  return compiles_ptx ||
         std::ranges::none_of(machine_code, [this](int code) { return fits(code, gpu); });
}

std::string what_runs(const GpuCode& code) {
  std::string text =
      code.runs_ptx()
          ? fmt::format("PTX for compute capability {}, which the driver compiles",
                        capability_text(code.capability))
          : fmt::format("machine code for compute capability {}", capability_text(code.capability));
  if (code.gpu == 90) {
    text += code.hopper ? ", and that for Hopper's own instructions"
                        : ", and none for Hopper's own instructions";
  }
  return text;
}

std::optional<BetterCode> better_code(const GpuCode& code) {
  const int best = best_for(code.gpu);
  const bool no_hopper = code.gpu == 90 && !code.hopper,
             ptx = code.runs_ptx() && fits(best, code.gpu);
  if (code.capability >= best && !no_hopper && !ptx) return std::nullopt;
  const std::string what = fmt::format("the code for compute capability {}: this GPU runs {}",
                                       capability_text(code.gpu), what_runs(code));
  if (code.compiles_ptx) return BetterCode{what, "unset CUDA_FORCE_PTX_JIT"};
  return BetterCode{what, fmt::format("cmake -DWARPLADDER_ARCHITECTURES='{}{}'", best,
                                      code.gpu == 90 ? ";90a" : "")};
}

}  // namespace warpladder::device
