#include "programs/runtime/errors.hpp"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "programs/runtime/session.hpp"

namespace warpladder::programs {
namespace {

std::atomic<cudaError_t> last{cudaSuccess}, lasting{cudaSuccess};

struct Refusal {
  const void* caller;
  std::string sentence;
};
std::mutex mutex;
std::optional<Refusal>& unseen() {
  static auto& instance = *new std::optional<Refusal>;
  return instance;
}

cudaError_t seen(cudaError_t error) {
  std::lock_guard lock(mutex);
  unseen().reset();
  return error;
}

}  // namespace

cudaError_t failed(cudaError_t error) {
  last = error;
  return error;
}

cudaError_t failed_for_good(cudaError_t error) {
  lasting = error;
  return failed(error);
}

void launch_refused(cudaError_t error, const void* caller, const char* kernel, const char* why) {
  failed(error);
  std::lock_guard lock(mutex);
  if (!unseen())
    unseen() = Refusal{caller, fmt::format("the launch of {} failed: {}", kernel, why)};
}

void report_unseen_errors() {
  std::lock_guard lock(mutex);
  if (!unseen()) return;
  report_finding("unchecked error", caller_of(unseen()->caller),
                 unseen()->sentence + "; the program never asks cudaGetLastError()");
}

}  // namespace warpladder::programs

using namespace warpladder::programs;

extern "C" {

cudaError_t cudaGetLastError() {
  if (lasting != cudaSuccess) return seen(lasting);
  return seen(last.exchange(cudaSuccess));
}
cudaError_t cudaPeekAtLastError() { return seen(last); }
cudaError_t cudaDeviceSynchronize() {
  std::fflush(stdout);
  return lasting;
}
cudaError_t cudaDeviceReset() {
  last = cudaSuccess;
  return cudaSuccess;
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define SIMT_ERROR(name, value, text) \
  case name:                          \
    return text;
#include "simt/errors.inc"
#undef SIMT_ERROR
  }
  return "unrecognized error code";
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define SIMT_ERROR(name, value, text) \
  case name:                          \
    return #name;
#include "simt/errors.inc"
#undef SIMT_ERROR
  }
  return "unrecognized error code";
}
}
