#pragma once
// Where the stored entries of a sparse matrix lie, in shades, and the picture of an inspection as
// an SVG.

#include <cstdint>
#include <string>

#include "lab/inspect.hpp"

namespace warpladder::lab {

inline constexpr int kShades = 5;

// The darkest shade is within a quarter of the densest cell, each lighter one within a quarter of
// the one before, the lightest also all that is sparser: chance alone then draws no patterns.
class Shading {
 public:
  explicit Shading(const spmv::DensityGrid& grid);
  // 0 where nothing is stored, else 1 to kShades.
  int at(std::int64_t row, std::int64_t column) const;
  double densest() const { return densest_; }

 private:
  const spmv::DensityGrid& grid_;
  double densest_ = 0;
};

// "0", "1", "2–3", "4–7", …
std::string label(const spmv::LengthBin& bin);

// "12.5 %"; what rounding would make nothing or all is "< 0.1 %" or "> 99.9 %".
std::string share_text(std::int64_t part, std::int64_t whole);

// One self-contained file: the cells on the left, the lengths of the rows on the right, in colours
// that follow the reader's choice of light or dark. The same inspection gives the same bytes.
std::string svg(const Inspection& inspection);

}  // namespace warpladder::lab
