#include "device/cuda/nvml.hpp"

#include "base/shared_library.hpp"

namespace warpladder::device::cuda {
namespace {

// From nvml.h, which only some installations of the toolkit have; the library is the driver's.
using NvmlDevice = struct nvmlDevice_st*;
constexpr int kSuccess = 0, kClockOfMultiprocessors = 1;

struct Nvml {
  SharedLibrary library{{"libnvidia-ml.so.1"}};
  int (*init)() = library.find<int (*)()>("nvmlInit_v2");
  int (*handle_by_index)(unsigned, NvmlDevice*) =
      library.find<int (*)(unsigned, NvmlDevice*)>("nvmlDeviceGetHandleByIndex_v2");
  int (*clock_info)(NvmlDevice, int, unsigned*) =
      library.find<int (*)(NvmlDevice, int, unsigned*)>("nvmlDeviceGetClockInfo");
  NvmlDevice device = nullptr;

  Nvml() {
    if (!init || !handle_by_index || !clock_info || init() != kSuccess) return;
    if (handle_by_index(0, &device) != kSuccess) device = nullptr;
  }
};

}  // namespace

int sm_clock_mhz() {
  static const Nvml nvml;
  unsigned mhz = 0;
  if (!nvml.device || nvml.clock_info(nvml.device, kClockOfMultiprocessors, &mhz) != kSuccess) {
    return 0;
  }
  return static_cast<int>(mhz);
}

}  // namespace warpladder::device::cuda
