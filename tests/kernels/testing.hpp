#pragma once
// What tests with kernels of their own share. They launch a kernel by name, in each flavour that
// can run here, and speak of places in the kernels' sources.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "device/device.hpp"
#include "executor/counts.hpp"
#include "kernels/registry.hpp"

// GoogleTest finds these by their arguments.
namespace warpladder::runtime {
void PrintTo(Flavour flavour, std::ostream* out);
void PrintTo(const Dim3& size, std::ostream* out);
}  // namespace warpladder::runtime
namespace warpladder::executor {
void PrintTo(const AccessCounts& counts, std::ostream* out);
void PrintTo(const EventCounts& counts, std::ostream* out);
}  // namespace warpladder::executor

namespace warpladder::kernel_tests {

using device::Buffer;
using runtime::Flavour;
using runtime::Target;

struct Shape {
  runtime::Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  unsigned cluster = 1;
};

inline Target target_of(Flavour f) { return f == Flavour::gpu ? Target::gpu : Target::cpu; }
std::string name_of(Flavour flavour);
// Why no kernel runs in this flavour here; empty if they do.
std::string why_not(Flavour flavour);

void launch(device::Stream& stream, Flavour flavour, const std::string& kernel,
            const Arguments& arguments);

// The arguments of a launch: buffers and pointers, tensor maps and integers, each kind in the
// kernel's order.
template <class... Values>
Arguments arguments_of(const Shape& shape, const Values&... values) {
  Arguments a;
  a.grid = shape.grid;
  a.block = shape.block;
  a.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  a.cluster = shape.cluster;
  int pointers = 0, numbers = 0, maps = 0;
  const auto put = [&](const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, runtime::TensorMap>) {
      a.map[maps++] = value;
    } else if constexpr (std::is_integral_v<Value>) {
      a.number[numbers++] = value;
    } else if constexpr (std::is_pointer_v<Value>) {
      a.pointer[pointers++] = const_cast<void*>(static_cast<const void*>(value));
    } else {
      a.pointer[pointers++] = value.data();
    }
  };
  static_assert(sizeof...(values) <= kMostPointers);
  (put(values), ...);
  return a;
}

template <class... Values>
void run(device::Stream& stream, Flavour flavour, const std::string& kernel, const Shape& shape,
         const Values&... values) {
  launch(stream, flavour, kernel, arguments_of(shape, values...));
}

// A test that holds in every flavour: run() launches in the flavour at hand and waits.
class EveryFlavour : public ::testing::TestWithParam<Flavour> {
 protected:
  void SetUp() override {
    if (const std::string why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  Target target() const { return target_of(GetParam()); }
  bool on_gpu() const { return GetParam() == Flavour::gpu; }

  template <class... Values>
  void run(const std::string& kernel, const Shape& shape, const Values&... values) {
    device::Stream stream(target());
    kernel_tests::run(stream, GetParam(), kernel, shape, values...);
  }
};
#define WARPLADDER_IN_EVERY_FLAVOUR(suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(Flavours, suite,                                                   \
                           ::testing::Values(Flavour::plain, Flavour::counted, Flavour::gpu), \
                           [](const auto& flavour) { return name_of(flavour.param); })

// The counts of one launch of the counted flavour.
template <class... Values>
executor::KernelCounts count(const std::string& kernel, const Shape& shape,
                             const Values&... values) {
  device::Stream stream(Target::cpu);
  std::vector<executor::KernelCounts> launches;
  stream.record_counts = &launches;
  run(stream, Flavour::counted, kernel, shape, values...);
  return launches.at(0);
}

// Where a file of test kernels lies, from the repository's root: tests/<folder>/kernels/<file>.
std::string path_of(const std::string& file);
// Its line that ends in "// <mark>".
int line_of(const std::string& file, const std::string& mark);

// 0, 1, 2, … as floats: small whole numbers, whose sums are exact in any order.
std::vector<float> whole_numbers(std::size_t count, int below = 64);

}  // namespace warpladder::kernel_tests
