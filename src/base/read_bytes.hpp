#pragma once
// A file, a pipe or memory as a stream of bytes.

#include <cstddef>
#include <functional>
#include <span>

namespace warpladder {

// Fills the span from where the last call stopped, perhaps not to its end; 0 bytes mean the end.
using ReadBytes = std::function<std::size_t(std::span<std::byte>)>;

}  // namespace warpladder
