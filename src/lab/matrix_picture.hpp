#pragma once
// The places of a sparse matrix's entries, in shades, and the picture of an inspection as SVG.

#include <cstdint>
#include <string>

#include "lab/inspect.hpp"

namespace warpladder::lab {

inline constexpr int kShades = 5;

// Each shade spans a factor of four in density, from the densest cell down. The lightest also holds
// all sparser cells. So chance alone draws no patterns.
class Shading {
 public:
  explicit Shading(const spmv::DensityGrid& grid);
  // 0 for a cell without entries, else 1 to kShades.
  int at(std::int64_t row, std::int64_t column) const;
  double densest() const { return densest_; }

 private:
  const spmv::DensityGrid& grid_;
  double densest_ = 0;
};

// "0", "1", "2–3", "4–7", …
std::string label(const spmv::LengthBin& bin);

// "12.5 %". Shares that would round to 0 or 100 % are "< 0.1 %" or "> 99.9 %".
std::string share_text(std::int64_t part, std::int64_t whole);

// One self-contained file: the cells on the left, the lengths of the rows on the right. Its colours
// follow the reader's choice of light or dark. The same inspection gives the same bytes.
std::string svg(const Inspection& inspection);

}  // namespace warpladder::lab
