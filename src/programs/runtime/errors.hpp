#pragma once
// The API's last error, and the one that stays.

#include "programs/runtime/api.hpp"

namespace warpladder::programs {

cudaError_t failed(cudaError_t error);           // becomes the last error
cudaError_t failed_for_good(cudaError_t error);  // every later call gives it
// A launch that was refused: the error that the next cudaGetLastError() gives. If nobody asks
// before the program ends, that is reported with this line.
void launch_refused(cudaError_t error, const void* caller, const char* kernel, const char* why);
void report_unseen_errors();

}  // namespace warpladder::programs
