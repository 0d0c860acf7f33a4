#pragma once
// The lines after the header of a Matrix Market file, one block at a time, in any order.
// base/matrix_market.hpp reads and writes whole files; this is an inner part of it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/csr_assembly.hpp"
#include "base/matrix_market_header.hpp"
#include "base/text_blocks.hpp"

namespace warpladder {

// What a block holds, up to its first fault. Its lines count from 1.
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
  // That entry `index`, from 0, stands in; that of the fault for index == count().
  std::int64_t line_of(std::int64_t index) const;
};

// What is wrong with the line of a block that is cut.
std::string matrix_market_cut_line(const TextBlock& block);

// `scratch` keeps its memory for the next block.
MatrixMarketLines parse_matrix_market_lines(const TextBlock& block,
                                            const MatrixMarketHeader& header,
                                            MatrixMarketLines& scratch);

}  // namespace warpladder
