#pragma once
// What of this build's GPU code CUDA runs on a device.

namespace warpladder::runtime {

struct DeviceCode {
  int error = 0;       // the cudaError_t with which CUDA refuses all of it, or 0
  int capability = 0;  // that it was compiled for, be it machine code or PTX: 10 · major + minor
  bool hopper = true;  // whether machine code for sm_90a runs
};

// On the current device.
DeviceCode device_code() noexcept;

}  // namespace warpladder::runtime
