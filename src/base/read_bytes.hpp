#pragma once
// A file, a pipe or memory as a stream of bytes.

#include <cstddef>
#include <functional>
#include <span>

namespace warpladder {

// Reads the next bytes into the span, perhaps fewer than fit; 0 bytes mean the end.
using ReadBytes = std::function<std::size_t(std::span<std::byte>)>;

}  // namespace warpladder
