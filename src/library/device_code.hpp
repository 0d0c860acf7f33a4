#pragma once

namespace warpladder::library {

// The cudaError_t with which CUDA refuses this build's code on the current device, or 0.
int device_code_error() noexcept;

}  // namespace warpladder::library
