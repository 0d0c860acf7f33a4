#pragma once
// A product's operands and its workspace in the memory of a target, and the Call that names them.

#include <vector>

#include "base/csr_matrix.hpp"
#include "device/device.hpp"
#include "ops/spmv/problem.hpp"

namespace warpladder::spmv {

// Elements by which operands lie off a 256-byte boundary.
struct Misalignment {
  int offsets = 0, columns = 0, values = 0, x = 0, y = 0;
};

// Offsets of 64 bits where rows or entries need them, or where they are asked for. Throws
// Error(bad_input) as validate() does.
Problem problem_of(const CsrMatrix& a, float alpha, float beta, bool wide_offsets = false);

// Row offsets, of whichever width.
class Offsets {
 public:
  Offsets(runtime::Target target, const std::vector<std::int64_t>& offsets, bool wide,
          int misalign);
  const void* data() const;
  bool are_still(const std::vector<std::int64_t>& offsets) const;  // guard bands included

 private:
  bool wide_;
  device::Buffer<std::int64_t> wide_offsets_;
  device::Buffer<std::int32_t> narrow_;
};

// Flags are zero to begin with; scratch and plan hold nothing.
struct Operands {
  Operands(runtime::Target target, const Problem& problem, const CsrMatrix& a,
           const std::vector<float>& x, const std::vector<float>& y,
           const Misalignment& misalignment = {});

  // For Call::matrix_id each of them counts as another matrix.
  Call call() const;

  Problem problem;
  Offsets row_offsets;
  device::Buffer<std::int32_t> column_indices;
  device::Buffer<float> values, x, y;
  device::Buffer<std::uint64_t> flags;
  device::Buffer<std::int64_t> scratch, plan;
  std::uint64_t matrix_id;
};

}  // namespace warpladder::spmv
