// Every plan is right on every machine: the executor runs what plan() names for a dozen of them.

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "device/device.hpp"
#include "ops/lab/operator.hpp"

namespace warpladder {
namespace {

struct Named {
  const char* name;
  runtime::Machine machine;
};
void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }

// Multiprocessors, shared memory and rates as data sheets have them.
runtime::Machine made_up(int capability, int multiprocessors, int shared_kib, double f64_tensor,
                         double f16_tensor) {
  runtime::Machine m;
  m.capability = capability;
  m.multiprocessors = multiprocessors;
  m.shared_bytes_per_block = (shared_kib - 1) << 10;
  m.shared_bytes_per_multiprocessor = shared_kib << 10;
  m.f64_tensor_flops_per_s = f64_tensor;
  m.f16_tensor_flops_per_s = f16_tensor;
  return m;
}

std::vector<Named> machines() {
  std::vector<Named> list = {{"T4", made_up(75, 40, 64, 0, 65e12)},
                             {"A100", made_up(80, 108, 164, 19.5e12, 312e12)},
                             {"A10", made_up(86, 72, 100, 0, 125e12)},
                             {"L4", made_up(89, 58, 100, 0, 121e12)},
                             {"L40S", made_up(89, 142, 100, 0, 362e12)},
                             {"RTX_4090", made_up(89, 128, 100, 0, 165e12)},
                             {"H100_PCIe", made_up(90, 114, 228, 51e12, 756e12)},
                             {"H100_SXM", made_up(90, 132, 228, 67e12, 989e12)},
                             {"H100_NVL", made_up(90, 132, 228, 60e12, 835e12)},
                             {"H100_slice", made_up(90, 16, 228, 8e12, 120e12)},
                             {"B200", made_up(100, 148, 228, 40e12, 2250e12)},
                             {"RTX_5090", made_up(120, 170, 100, 0, 210e12)}};
  return list;
}

class Plans : public testing::TestWithParam<Named> {};

TEST_P(Plans, AreRightOnEveryCase) {
  const device::StandIn machine(GetParam().machine);
  for (const auto& op : ops::all_operators()) {
    const ladder::AnyRung* dispatch = nullptr;
    for (const ladder::AnyRung* rung : ladder::rungs_of(op->name())) {
      if (rung->is_dispatch()) dispatch = rung;
    }
    if (!dispatch) continue;
    for (const ops::Case& c : op->cases()) {
      SCOPED_TRACE(op->name() + " " + c.name);
      const auto trial = c.prepare(runtime::Target::cpu);
      trial->reset();
      trial->expect(dispatch->arithmetic_for(trial->call()));
      device::Stream stream(runtime::Target::cpu);
      dispatch->launcher(runtime::Flavour::plain)(trial->call(), stream);
      EXPECT_EQ(trial->judge().failure, "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Plans, testing::ValuesIn(machines()),
                         [](const auto& machine) { return std::string(machine.param.name); });

}  // namespace
}  // namespace warpladder
