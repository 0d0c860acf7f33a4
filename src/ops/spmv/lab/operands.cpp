#include "ops/spmv/lab/operands.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "ops/lab/checked.hpp"
#include "ops/spmv/lab/row_statistics.hpp"
#include "ops/spmv/pattern.hpp"

namespace warpladder::spmv {
namespace {

std::uint64_t next_matrix_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

std::int64_t longest_row(const std::vector<std::int64_t>& offsets) {
  std::int64_t longest = 0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
    longest = std::max(longest, offsets[row + 1] - offsets[row]);
  }
  return longest;
}

std::size_t count_of(std::int64_t words) { return static_cast<std::size_t>(words); }
std::size_t off(int misalign) { return static_cast<std::size_t>(misalign); }

}  // namespace

Problem problem_of(const CsrMatrix& a, float alpha, float beta, bool wide_offsets) {
  const bool needs_wide = std::max(a.nnz(), a.rows) > std::numeric_limits<std::int32_t>::max();
  Problem p{a.rows, a.columns, a.nnz(), wide_offsets || needs_wide, alpha, beta};
  const double sectors = sectors_of_x(a);
  p.scattered = is_scattered(sectors);
  p.even = is_even(sectors);
  p.longest_row = longest_row(a.row_offsets);
  ops::validate(p);
  return p;
}

Offsets::Offsets(runtime::Target target, const std::vector<std::int64_t>& offsets, bool wide,
                 int misalign)
    : wide_(wide) {
  if (wide) {
    wide_offsets_ = device::Buffer<std::int64_t>(target, offsets, off(misalign), "the row offsets");
  } else {
    narrow_ = device::Buffer<std::int32_t>(
        target, std::vector<std::int32_t>(offsets.begin(), offsets.end()), off(misalign),
        "the row offsets");
  }
}

const void* Offsets::data() const {
  return wide_ ? static_cast<const void*>(wide_offsets_.data()) : narrow_.data();
}

bool Offsets::are_still(const std::vector<std::int64_t>& offsets) const {
  if (wide_) return wide_offsets_.download() == offsets && wide_offsets_.guards_intact();
  return std::ranges::equal(narrow_.download(), offsets) && narrow_.guards_intact();
}

Operands::Operands(runtime::Target target, const Problem& p, const CsrMatrix& a,
                   const std::vector<float>& x_host, const std::vector<float>& y_host,
                   const Misalignment& misalignment)
    : problem(p),
      row_offsets(target, a.row_offsets, p.wide_offsets, misalignment.offsets),
      column_indices(target, a.column_indices, off(misalignment.columns), "the column indices"),
      values(target, a.values, off(misalignment.values), "the values"),
      x(target, x_host, off(misalignment.x), "x"),
      y(target, y_host, off(misalignment.y), "y"),
      flags(target, count_of(flag_words(p, device::machine(target))), 0, "the flags"),
      scratch(target, count_of(scratch_words(p)), 0, "the scratch memory"),
      plan(target, count_of(plan_words(p, device::machine(target))), 0, "the plan"),
      matrix_id(next_matrix_id()) {
  flags.fill_bytes(0);
}

Call Operands::call() const {
  return {problem,  row_offsets.data(), column_indices.data(), values.data(), x.data(),
          y.data(), flags.data(),       scratch.data(),        plan.data(),   matrix_id};
}

}  // namespace warpladder::spmv
