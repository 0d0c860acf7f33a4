#include "ops/lab/openblas.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "ops/lab/openblas_start.hpp"

namespace warpladder::ops {
namespace {

// When a program starts, OpenBLAS starts a thread for each processor, and these wait busily for a
// while. Few programs time it, so that it is told to start none: set_openblas_threads() still can.
constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
constinit bool is_told = false;
__attribute__((constructor(101))) void start_without_threads() {  // before all other constructors
  is_told = !std::getenv(kThreads) && setenv(kThreads, "1", 0) == 0;
}

}  // namespace

void openblas_has_started() noexcept {
  if (is_told) unsetenv(kThreads);
  is_told = false;
}

blasint to_blasint(const char* name, std::int64_t value) {
  constexpr std::int64_t kMost = std::numeric_limits<blasint>::max();
  if (value > kMost || value < -kMost) {
    throw_bad_input(fmt::format("openblas: {} is {}, but it takes at most {}", name, value, kMost));
  }
  return static_cast<blasint>(value);
}

void set_openblas_threads(const runtime::StreamView& stream) {
  const auto threads = static_cast<int>(stream.settings->executor_threads);
  openblas_set_num_threads(threads ? threads : openblas_get_num_procs());
}

// "OpenBLAS 0.3.21 DYNAMIC_ARCH ..." → 0.3.21
std::string openblas_version() {
  std::istringstream config(openblas_get_config());
  std::string name, number;
  config >> name >> number;
  return number;
}

}  // namespace warpladder::ops
