#include "ops/sgemm/lab/device_operands.hpp"

#include <vector>

namespace warpladder::sgemm {
namespace {

std::size_t count_of(std::int64_t elements) { return static_cast<std::size_t>(elements); }

Values values_of(Filling filling) {
  const bool moderate = filling == Filling::uniform || filling == Filling::positive;
  return moderate ? Values::moderate : Values::any;
}

bool is_batch(const GemmCase& c) { return c.batch.count != 1 || c.batch.arrays; }

}  // namespace

DeviceOperands::DeviceOperands(const GemmCase& of, runtime::Target target)
    : a(target, count_of(elements_of(of).a_elements), of.misalign_a, "A"),
      b(target, count_of(elements_of(of).b_elements), of.misalign_b, "B"),
      c(target, count_of(elements_of(of).c_elements), of.misalign_c, "C"),
      workspace_(target, workspace_bytes(of.problem), 0, "the workspace"),
      prepared_(target, is_batch(of) ? 0 : prepared_bytes(of.problem), 0, "the prepared B") {
  call_.problem = of.problem;
  call_.workspace = workspace_.data();
  call_.values = values_of(of.filling);
  call_.batch = of.batch;
  call_.arithmetic = of.arithmetic;
  if (!is_batch(of)) call_.prepared_b = prepared_.data();
  if (of.batch.arrays) {
    point_at(of);
  } else {
    call_.a = a.data();
    call_.b = b.data();
    call_.c = c.data();
  }
}

void DeviceOperands::point_at(const GemmCase& of) {
  std::vector<const float*> to_a, to_b;
  std::vector<float*> to_c;
  for (std::int64_t product = 0; product < of.batch.count; ++product) {
    const Offsets offsets = offsets_of(of, product);
    to_a.push_back(a.data() + offsets.a);
    to_b.push_back(b.data() + offsets.b);
    to_c.push_back(c.data() + offsets.c);
  }
  const runtime::Target target = workspace_.target();
  a_pointers_ = device::Buffer<const float*>(target, to_a, 0, "the pointers to A");
  b_pointers_ = device::Buffer<const float*>(target, to_b, 0, "the pointers to B");
  c_pointers_ = device::Buffer<float*>(target, to_c, 0, "the pointers to C");
  call_.batch.a = a_pointers_.data();
  call_.batch.b = b_pointers_.data();
  call_.batch.c = c_pointers_.data();
  // No rung may use them.
  call_.batch.stride_a = call_.batch.stride_b = call_.batch.stride_c = 0;
}

void DeviceOperands::provide_workspace(std::size_t bytes) {
  if (bytes <= workspace_.bytes()) return;
  workspace_ = device::Memory(workspace_.target(), bytes, 0, "the workspace");
  call_.workspace = workspace_.data();
}

std::string DeviceOperands::first_trespass() const {
  if (!a.guards_intact()) return "something was written outside A";
  if (!b.guards_intact()) return "something was written outside B";
  if (!c.guards_intact()) return "something was written outside C";
  if (!a_pointers_.guards_intact() || !b_pointers_.guards_intact() ||
      !c_pointers_.guards_intact()) {
    return "something was written outside an array of pointers";
  }
  if (!workspace_.guards_intact()) return "something was written outside the workspace";
  if (!prepared_.guards_intact()) return "something was written outside the prepared B";
  return "";
}

}  // namespace warpladder::sgemm
