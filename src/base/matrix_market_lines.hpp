#pragma once
// The lines after the header of a Matrix Market file, one block at a time, in any order. A part of
// base/matrix_market.hpp, which reads and writes whole files.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/csr_assembly.hpp"
#include "base/matrix_market_header.hpp"
#include "base/text_blocks.hpp"

namespace warpladder {

// The entries of a block, up to its first fault. Lines count from 1.
struct MatrixMarketLines {
  struct Fault {
    std::int64_t line;
    std::string reason;
    bool is_entry = true;  // false: what it would have been is not known
  };
  struct Skipped {       // blank lines and comments
    std::int64_t entry;  // before this one, from 0
    std::int64_t lines;
  };

  std::vector<SparseEntry> entries;  // of a coordinate file, 0-based
  std::vector<float> dense;          // of an array
  std::vector<Skipped> skipped;
  std::int64_t lines = 0;
  std::int64_t first_below = 0, first_above = 0;  // lines of entries beside the diagonal; 0: none
  std::optional<Fault> fault;

  std::int64_t count() const { return static_cast<std::int64_t>(entries.size() + dense.size()); }
  // The line of entry `index`, from 0; for index == count() the line of the fault.
  std::int64_t line_of(std::int64_t index) const;
};

// The fault of a block's incomplete line.
std::string matrix_market_cut_line(const TextBlock& block);

// `scratch` is reused, so that its memory is allocated once.
MatrixMarketLines parse_matrix_market_lines(const TextBlock& block,
                                            const MatrixMarketHeader& header,
                                            MatrixMarketLines& scratch);

}  // namespace warpladder
