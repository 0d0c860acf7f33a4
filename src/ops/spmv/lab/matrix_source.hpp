#pragma once
// A sparse matrix as users name it: a file, or a line of text that says how to make it.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/csr_matrix.hpp"

namespace warpladder::spmv {

// Reads a Matrix Market file if `text` ends in .mtx or .mtx.gz, holds a '/' or is a file's name;
// else generates what it specifies (generators.hpp). Throws Error in a sentence that begins with
// `argument` (may be empty) and `text`. `duplicates`: where to put how many of the file's entries
// were added to an earlier one of their place.
CsrMatrix load_matrix(const std::string& text, std::string_view argument,
                      std::int64_t* duplicates = nullptr);

}  // namespace warpladder::spmv
