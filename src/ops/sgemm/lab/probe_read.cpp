// What products with few rows or columns are measured against: reading as many bytes as A and B
// have, each once, and nothing else.

#include "ops/lab/rival.hpp"
#include "ops/sgemm/problem.hpp"

namespace warpladder::sgemm {
namespace {

constexpr std::int64_t kFew = 16;

bool has_few_rows_or_columns(const Call& call) {
  const Problem& p = call.problem;
  return is_single(call) && (p.m <= kFew || p.n <= kFew);
}

// From one place, because A and B are two and a second launch would cost time of its own.
void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  static device::Memory operands;  // grows, so that timed calls allocate nothing
  const auto bytes = static_cast<std::size_t>((p.m + p.n) * p.k) * sizeof(float);
  if (operands.bytes() < bytes) operands = device::Memory(runtime::Target::gpu, bytes);
  device::read(stream, operands.data(), bytes);
}

const bool declared = ops::declare_rival({.op = "sgemm",
                                          .name = "read",
                                          .what = "reading as many bytes as A and B have",
                                          .library = "",
                                          .target = runtime::Target::gpu,
                                          .launch = launch,
                                          .is_probe = true,
                                          .takes = has_few_rows_or_columns});

}  // namespace
}  // namespace warpladder::sgemm
