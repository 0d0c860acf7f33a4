#pragma once

#include <cstddef>
#include <string>

namespace warpladder {

// The bytes of a file or a pipe. Throws Error(bad_input) that begins with `subject`: for what
// cannot be read, and for more than `most_bytes`, of which no more is read.
std::string read_whole_file(const std::string& path, const std::string& subject,
                            std::size_t most_bytes);

}  // namespace warpladder
