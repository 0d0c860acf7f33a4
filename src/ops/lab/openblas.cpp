#include "ops/lab/openblas.hpp"

#include <fmt/format.h>

#include <limits>
#include <sstream>

#include "base/error.hpp"

namespace warpladder::ops {

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
