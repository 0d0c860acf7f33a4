// What spmv is measured against: reading as many bytes as must move.

#include "ops/lab/rival.hpp"
#include "ops/spmv/problem.hpp"

namespace warpladder::spmv {
namespace {

void launch(const Call& call, runtime::StreamView& stream) {
  const Problem& p = call.problem;
  const auto entries = static_cast<std::size_t>(p.nnz), rows = static_cast<std::size_t>(p.rows);
  device::read(stream, call.values, entries * sizeof(float));
  device::read(stream, call.column_indices, entries * sizeof(std::int32_t));
  device::read(stream, call.row_offsets, (rows + 1) * (p.wide_offsets ? 8 : 4));
  device::read(stream, call.x, static_cast<std::size_t>(p.columns) * sizeof(float));
  device::read(stream, call.y, rows * sizeof(float));
}

const bool declared = ops::declare_rival({"spmv", "read", "reading as many bytes", "",
                                          runtime::Target::gpu, launch, nullptr, nullptr, true});

}  // namespace
}  // namespace warpladder::spmv
