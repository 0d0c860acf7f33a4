#pragma once

#include <cstddef>
#include <string>

namespace warpladder {

// The bytes of a file or a pipe. Throws Error(bad_input), with `subject` first, if the file cannot
// be read or has more than `most_bytes`; it reads no further.
std::string read_whole_file(const std::string& path, const std::string& subject,
                            std::size_t most_bytes);

}  // namespace warpladder
