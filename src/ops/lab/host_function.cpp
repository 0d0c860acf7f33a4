#include "ops/lab/host_function.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/in_quotes.hpp"
#include "base/scratch_folder.hpp"
#include "runtime/expression.hpp"
#include "runtime/nvrtc.hpp"

namespace warpladder::ops {
namespace {

// CUDA's words and functions that C++ lacks. Multiply-adds are fused, as on a GPU.
constexpr const char* kBefore = R"(#include <cmath>
#include <math.h>
#include <type_traits>
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
template <class A, class B>
inline std::common_type_t<A, B> max(A a, B b) { return a > b ? a : b; }
template <class A, class B>
inline std::common_type_t<A, B> min(A a, B b) { return a < b ? a : b; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
)";
constexpr const char* kMap = R"(
extern "C" void warpladder_entry(float* values, long count) {
  for (long i = 0; i < count; ++i) values[i] = Function()(values[i]);
}
)";
constexpr const char* kFold = R"(
static float fold(const float* values, long count, float identity) {
  if (count > 256) {
    const long half = count / 2;
    return Function()(fold(values, half, identity), fold(values + half, count - half, identity));
  }
  float all = identity;
  for (long i = 0; i < count; ++i) all = Function()(all, values[i]);
  return all;
}
extern "C" float warpladder_entry(const float* values, long count, float identity) {
  return fold(values, count, identity);
}
)";

}  // namespace

HostFunction::HostFunction(const std::string& flag, const char* parameters,
                           const std::string& expression, const char* entry) {
  const std::string subject = fmt::format("{} {}", flag, in_quotes(expression, kShownBytes));
  if (const auto status = runtime::check_expression(subject.c_str(), expression.c_str());
      !status.ok()) {
    throw_bad_input(status.sentence);
  }
  if (find_program("g++").empty()) {
    throw_resource(fmt::format("g++ is not found, which compiles {} for the CPU", flag));
  }
  const ScratchFolder scratch;
  const std::string source = scratch.path() / "function.cpp",
                    library = scratch.path() / "function.so";
  write_file(source, kBefore + runtime::function_object(parameters, expression.c_str()) + entry);
  const FinishedProcess done =
      run_process({"g++", "-std=c++20", "-O2", "-mavx2", "-mfma", "-ffp-contract=fast", "-w",
                   "-shared", "-fPIC", source, "-o", library});
  if (done.exit_code != 0) {
    throw_bad_input(
        fmt::format("{} does not compile: {}", subject, runtime::first_error_of(done.errors)));
  }
  void* const loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  entry_ = loaded ? ::dlsym(loaded, "warpladder_entry") : nullptr;
  if (!entry_) throw_resource(fmt::format("{} cannot be loaded: {}", subject, ::dlerror()));
}

HostMap::HostMap(const std::string& flag, const std::string& expression)
    : HostFunction(flag, "const float x", expression, kMap) {}

void HostMap::apply(std::span<float> values) const {
  reinterpret_cast<void (*)(float*, long)>(entry_)(values.data(), static_cast<long>(values.size()));
}

HostFold::HostFold(const std::string& flag, const std::string& expression)
    : HostFunction(flag, "const float a, const float b", expression, kFold) {}

float HostFold::of(std::span<const float> values, float identity) const {
  const auto fold = reinterpret_cast<float (*)(const float*, long, float)>(entry_);
  return fold(values.data(), static_cast<long>(values.size()), identity);
}

}  // namespace warpladder::ops
